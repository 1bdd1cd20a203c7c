#include "client/cli/completion.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace weft::cli {
namespace {

bool IsArgument(const Option& option) { return option.kind != Option::Kind::kOption; }

// `text` inside single quotes, as sh, zsh and fish read it.
std::string Quote(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// What bash offers for the value of `option`.
std::string BashWords(const Option& option) {
  switch (option.completes) {
    case Completes::kNothing:
      return "";
    case Completes::kFiles:
      return "compgen -f -- \"$cur\"";
    case Completes::kFolders:
      return "compgen -d -- \"$cur\"";
    case Completes::kChoices:
    case Completes::kSuggestions:
      return absl::StrCat("compgen -W ", Quote(absl::StrJoin(option.choices, " ")), " -- \"$cur\"");
  }
  return "";
}

// The cases of one command: `command:--option` for values, `command:` for arguments and options.
std::string BashCases(const CommandInfo& info, const std::vector<Option>& options) {
  std::string cases;
  std::string names = "--help --socket";
  std::string arguments;
  for (const Option& option : options) {
    const std::string words = BashWords(option);
    if (IsArgument(option)) {
      if (!words.empty()) absl::StrAppend(&arguments, "; ", words);
      continue;
    }
    absl::StrAppend(&names, " --", option.name);
    if (option.letter != 0) absl::StrAppend(&names, " -", std::string(1, option.letter));
    if (option.value.empty()) continue;  // a flag
    if (option.letter != 0) {
      absl::StrAppend(&cases, "    ", info.name, ":-", std::string(1, option.letter), ") words=$(",
                      words.empty() ? ":" : words, ") ;;\n");
    }
    absl::StrAppend(&cases, "    ", info.name, ":--", option.name, ") words=$(",
                    words.empty() ? ":" : words, ") ;;\n");
  }
  absl::StrAppend(&cases, "    ", info.name, ":*) words=$(compgen -W ", Quote(names),
                  " -- \"$cur\"", arguments, ") ;;\n");
  return cases;
}

std::string BashScript(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string names;
  std::string cases;
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    absl::StrAppend(&names, info.name, " ");
    absl::StrAppend(&cases, BashCases(info, command->options()));
  }
  return absl::StrCat(
      "# bash completion of weft: source <(weft completion bash)\n"
      "_weft() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= words= i\n"
      "  # bash takes `=` for a word of its own\n"
      "  [ \"$cur\" = = ] && cur=\n"
      "  [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in\n"
      "      --socket) i=$((i + 1)) ;;\n"
      "      -*) ;;\n"
      "      *) command=${COMP_WORDS[i]}; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case $command:$prev in\n"
      "    *:--socket) words=$(compgen -f -- \"$cur\") ;;\n"
      "    :*) words=$(compgen -W ",
      Quote(absl::StrCat(names, "--help --socket --version")), " -- \"$cur\") ;;\n", cases,
      "  esac\n"
      "  local IFS=$'\\n'\n"
      "  COMPREPLY=($words)\n"
      "}\n"
      "complete -o filenames -F _weft weft\n");
}

// What zsh does for the value of `option`.
std::string ZshAction(const Option& option) {
  switch (option.completes) {
    case Completes::kNothing:
      return " ";
    case Completes::kFiles:
      return "_files";
    case Completes::kFolders:
      return "_files -/";
    case Completes::kChoices:
    case Completes::kSuggestions:
      return absl::StrCat("(", absl::StrJoin(option.choices, " "), ")");
  }
  return " ";
}

// One specification of _arguments.
std::string ZshSpec(const Option& option) {
  // Brackets and colons end parts of a specification.
  const std::string help = absl::StrReplaceAll(option.help, {{"[", "("}, {"]", ")"}, {":", "\\:"}});
  if (IsArgument(option)) {
    return Quote(absl::StrCat(option.kind == Option::Kind::kOptionalArgument ? "::" : ":",
                              option.name, ":", ZshAction(option)));
  }
  std::string spec = absl::StrCat("*--", option.name, "[", help, "]");
  if (!option.value.empty()) absl::StrAppend(&spec, ":", option.name, ":", ZshAction(option));
  return Quote(spec);
}

std::string ZshScript(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string names;
  std::string cases;
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    absl::StrAppend(&names, "    ", Quote(absl::StrCat(info.name, ":", info.summary)), "\n");
    absl::StrAppend(&cases, "      ", info.name, ") _arguments '--help[Print the help]' ",
                    "'--socket[Unix socket of weftd]:socket:_files'");
    for (const Option& option : command->options()) {
      absl::StrAppend(&cases, " \\\n        ", ZshSpec(option));
    }
    absl::StrAppend(&cases, " ;;\n");
  }
  return absl::StrCat(
      "#compdef weft\n"
      "# zsh completion of weft: weft completion zsh > ~/.zfunc/_weft\n"
      "_weft() {\n"
      "  local line state\n"
      "  local -a commands=(\n",
      names,
      "  )\n"
      "  _arguments -C '--help[Print the help]' '--version[Print the version]' \\\n"
      "    '--socket[Unix socket of weftd]:socket:_files' '1:command:->command' "
      "'*::argument:->rest'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    rest) case $line[1] in\n",
      cases,
      "    esac ;;\n"
      "  esac\n"
      "}\n"
      "if [ \"$funcstack[1]\" = _weft ]; then _weft \"$@\"; else compdef _weft weft; fi\n");
}

std::string FishLine(const std::string& command, const Option& option) {
  std::string line =
      absl::StrCat("complete -c weft -n '__fish_seen_subcommand_from ", command, "'");
  if (!IsArgument(option)) {
    absl::StrAppend(&line, " -l ", option.name, " -d ", Quote(option.help));
    if (!option.value.empty()) absl::StrAppend(&line, " -r");
  }
  switch (option.completes) {
    case Completes::kNothing:
      break;
    case Completes::kFiles:
      absl::StrAppend(&line, " -F");
      break;
    case Completes::kFolders:
      absl::StrAppend(&line, " -a '(__fish_complete_directories)'");
      break;
    case Completes::kChoices:
    case Completes::kSuggestions:
      absl::StrAppend(&line, " -a ", Quote(absl::StrJoin(option.choices, " ")));
  }
  return line + "\n";
}

std::string FishScript(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string script =
      "# fish completion of weft: weft completion fish > ~/.config/fish/completions/weft.fish\n"
      "complete -c weft -f\n"
      "complete -c weft -l help -d 'Print the help'\n"
      "complete -c weft -l socket -r -F -d 'Unix socket of weftd'\n";
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    absl::StrAppend(&script, "complete -c weft -n __fish_use_subcommand -a ", info.name, " -d ",
                    Quote(info.summary), "\n");
    for (const Option& option : command->options()) {
      if (IsArgument(option) && option.completes == Completes::kNothing) continue;
      absl::StrAppend(&script, FishLine(info.name, option));
    }
  }
  return script;
}

}  // namespace

std::string CompletionScript(Shell shell, const std::vector<std::unique_ptr<Command>>& commands) {
  switch (shell) {
    case Shell::kBash:
      return BashScript(commands);
    case Shell::kZsh:
      return ZshScript(commands);
    case Shell::kFish:
      return FishScript(commands);
  }
  return "";
}

}  // namespace weft::cli
