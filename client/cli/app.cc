#include "client/cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/output.h"
#include "kernels/nearest_name.h"

namespace weft::cli {
namespace {

constexpr char kDescription[] =
    "Weft runs graphs of GPU work from many processes through one daemon, weftd.\n"
    "Start here: weft run --local JOB";

std::string ExitCodeTable() {
  std::string table = "Exit status:\n";
  for (const ExitCodeMeaning& row : ExitCodeMeanings()) {
    const std::string code = std::to_string(static_cast<int>(row.code));
    absl::StrAppend(&table, std::string(5 - code.size(), ' '), code, "  ", row.meaning, "\n");
  }
  return table;
}

// The parser's option for `option`, bound to its target.
CLI::Option* AddOption(CLI::App& app, const Option& option) {
  std::string name = option.kind == Option::Kind::kOption ? "--" + option.name : option.name;
  if (option.letter != 0) name = absl::StrCat("-", std::string(1, option.letter), ",", name);
  return std::visit(
      [&](auto* target) -> CLI::Option* {
        if constexpr (std::is_same_v<decltype(target), bool*>) {
          return app.add_flag(name, *target, option.help);
        } else {
          return app.add_option(name, *target, option.help);
        }
      },
      option.target);
}

void AddOptions(CLI::App& app, Command& command) {
  for (const Option& option : command.options()) {
    CLI::Option* added = AddOption(app, option);
    if (!option.value.empty()) added->type_name(option.value);
    if (option.kind == Option::Kind::kRequiredArgument) added->required();
    if (option.completes == Completes::kChoices) added->check(CLI::IsMember(option.choices));
    // A repeatable option takes one value each time, and leaves the job file behind it alone.
    if (std::holds_alternative<std::vector<std::string>*>(option.target)) {
      added->allow_extra_args(false);
    }
  }
}

// The parser over all commands. Owns the commands, whose members the parsed values land in.
struct Parser {
  std::vector<std::unique_ptr<Command>> commands = MakeCommands();
  std::string socket;
  CLI::App app{kDescription, "weft"};

  Parser() {
    app.require_subcommand(1);
    app.fallthrough();  // --socket may stand behind the command, too
    app.add_option("--socket", socket,
                   "weftd's Unix socket (default: $WEFT_SOCKET, $XDG_RUNTIME_DIR/weft/weftd.sock, "
                   "/run/weft/weftd.sock)")
        ->type_name("PATH");
    app.set_version_flag("--version", VersionText());
    app.footer(ExitCodeTable());
    for (const std::unique_ptr<Command>& command : commands) {
      const CommandInfo info = command->info();
      CLI::App* sub = app.add_subcommand(info.name, info.summary);
      sub->footer(info.details);
      AddOptions(*sub, *command);
    }
  }

  Command* Chosen() const {
    for (size_t i = 0; i < commands.size(); ++i) {
      if (app.got_subcommand(commands[i]->info().name)) return commands[i].get();
    }
    return nullptr;
  }
};

// The names that `wrong` may have been meant for: options for "--x", commands for "x".
std::vector<std::string> Candidates(const Parser& parser, absl::string_view wrong) {
  std::vector<std::string> names;
  Command* chosen = parser.Chosen();
  if (absl::StartsWith(wrong, "-")) {
    names = {"--socket", "--help", "--version"};
    if (chosen == nullptr) return names;
    for (const Option& option : chosen->options()) names.push_back("--" + option.name);
  } else if (chosen == nullptr) {
    for (const auto& command : parser.commands) names.push_back(command->info().name);
  }
  return names;
}

std::string SuggestionFor(const Parser& parser, const std::vector<std::string>& arguments) {
  const std::vector<std::string> unexpected = parser.app.remaining(true);
  // Without a command the parser does not say which argument it stumbled over.
  std::string wrong = unexpected.empty() ? std::string() : unexpected.front();
  if (wrong.empty() && parser.Chosen() == nullptr) {
    const auto word = std::find_if(arguments.begin(), arguments.end(),
                                   [](const std::string& a) { return !absl::StartsWith(a, "-"); });
    if (word != arguments.end()) wrong = *word;
  }
  if (wrong.empty()) return "";
  const std::string name = wrong.substr(0, wrong.find('='));
  const std::vector<std::string> candidates = Candidates(parser, name);
  const std::vector<absl::string_view> views(candidates.begin(), candidates.end());
  return kernels::DidYouMean(kernels::NearestName(name, views));
}

ExitCode PrintUsageError(const Parser& parser, const std::vector<std::string>& arguments,
                         const std::string& what, Environment& environment) {
  Command* chosen = parser.Chosen();
  const std::string command = chosen == nullptr ? "weft" : "weft " + chosen->info().name;
  environment.err << command << ": " << Printable(what) << "." << SuggestionFor(parser, arguments)
                  << " See `" << command << " --help`.\n";
  return ExitCode::kBadInput;
}

}  // namespace

ExitCode RunApp(const std::vector<std::string>& arguments, Environment& environment) {
  Parser parser;
  try {
    parser.app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    Command* chosen = parser.Chosen();
    environment.out << HelpText(chosen == nullptr ? "" : chosen->info().name);
    return ExitCode::kOk;
  } catch (const CLI::CallForVersion& version) {
    environment.out << version.what() << "\n";
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    return PrintUsageError(parser, arguments, error.what(), environment);
  }
  environment.socket = parser.socket;
  Command& command = *parser.Chosen();
  const absl::StatusOr<ExitCode> code = command.Run(environment);
  if (code.ok()) return *code;
  PrintError(environment.err, "weft " + command.info().name, code.status());
  return ExitCodeOf(code.status());
}

std::string HelpText(absl::string_view command) {
  Parser parser;
  if (command.empty()) return parser.app.help();
  return parser.app.get_subcommand(std::string(command))->help("weft");
}

std::string HelpMarkdown() {
  std::string page = absl::StrCat(
      "<!-- Written by `weft help --markdown`; edit client/cli/command_*.cc. -->\n",
      "# The command line\n\nEvery listing takes `--json`. Errors go to standard error, with what "
      "to ",
      "do; the exit status says what kind they are.\n\n## weft\n\n```\n", HelpText(""), "```\n");
  for (const std::unique_ptr<Command>& command : MakeCommands()) {
    const std::string name = command->info().name;
    absl::StrAppend(&page, "\n## weft ", name, "\n\n```\n", HelpText(name), "```\n");
  }
  return page;
}

std::string VersionText() { return "weft " WEFT_VERSION; }

std::vector<std::unique_ptr<Command>> MakeCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto maker :
       {MakeRunCommand,    MakePlanCommand,       MakeSubmitCommand,  MakeWaitCommand,
        MakeWatchCommand,  MakeTraceCommand,      MakeJobsCommand,    MakeShowCommand,
        MakeCancelCommand, MakeBuffersCommand,    MakePutCommand,     MakeGetCommand,
        MakeDeleteCommand, MakeDevicesCommand,    MakeKernelsCommand, MakeKernelCommand,
        MakeStatusCommand, MakeCompletionCommand, MakeHelpCommand,    MakeVersionCommand}) {
    commands.push_back(maker());
  }
  return commands;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const std::unique_ptr<Command>& command : MakeCommands()) {
    names.push_back(command->info().name);
  }
  return names;
}

}  // namespace weft::cli
