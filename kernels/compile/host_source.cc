#include "kernels/compile/host_source.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/compile/cuda_tokens.h"

namespace weft::kernels {
namespace {

using Kind = Token::Kind;
using Texts = std::vector<absl::string_view>;

// The tokens of one declaration up to what ends it (; { or }), or what is left of the text.
struct Statement {
  Texts words;            // without blanks, without the end
  std::string blanks;     // the line ends among them
  absl::string_view end;  // ";", "{", "}" or nothing
  size_t next = 0;        // the token behind the end
};

bool Has(const Texts& words, std::initializer_list<absl::string_view> some) {
  return std::find_first_of(words.begin(), words.end(), some.begin(), some.end()) != words.end();
}

// Whether "=" behind these words begins a variable's value, whose braces are then no function's.
bool BeginsValue(const Texts& words) {
  return !words.empty() && words[0] != "template" && !Has(words, {"operator"});
}

// A declaration's braces behind "=" are part of it.
Statement ReadStatement(const std::vector<Token>& tokens, size_t at) {
  Statement statement;
  int parentheses = 0, braces = 0;
  bool initialised = false;
  for (; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (token.kind == Kind::kBlank) {
      statement.blanks.append(std::count(token.text.begin(), token.text.end(), '\n'), '\n');
      continue;
    }
    const absl::string_view text = token.text;
    if (token.kind == Kind::kSign) {
      if (text == "(") ++parentheses;
      if (text == ")") --parentheses;
      if (text == "=" && parentheses == 0)
        initialised = initialised || BeginsValue(statement.words);
      if (braces == 0 && parentheses <= 0 &&
          (text == ";" || text == "}" || (text == "{" && !initialised))) {
        statement.end = text;
        statement.next = at + 1;
        return statement;
      }
      if (text == "{") ++braces;
      if (text == "}") --braces;
    }
    statement.words.push_back(text);
  }
  statement.next = at;
  return statement;
}

// Without __align__(…), alignas(…), __attribute__((…)) and the words named.
Texts WithoutAttributes(const Texts& words, std::initializer_list<absl::string_view> drop) {
  Texts kept;
  for (size_t i = 0; i < words.size(); ++i) {
    if (std::find(drop.begin(), drop.end(), words[i]) != drop.end()) continue;
    if (words[i] != "__align__" && words[i] != "alignas" && words[i] != "__attribute__") {
      kept.push_back(words[i]);
      continue;
    }
    int depth = 0;
    while (i + 1 < words.size()) {
      ++i;
      if (words[i] == "(") ++depth;
      if (words[i] == ")" && --depth == 0) break;
    }
  }
  return kept;
}

// The reference that stands for `extern __shared__ T name[];`, or nothing when this is none.
std::string DynamicShared(const Statement& statement) {
  if (statement.end != ";" || !Has(statement.words, {"extern"}) ||
      !Has(statement.words, {"__shared__"})) {
    return "";
  }
  const Texts words = WithoutAttributes(statement.words, {"extern", "__shared__"});
  const size_t count = words.size();
  if (count < 4 || words[count - 2] != "[" || words[count - 1] != "]") return "";
  if (std::count(words.begin(), words.end(), "[") != 1) return "";
  const std::string type = absl::StrJoin(words.begin(), words.end() - 3, " ");
  return absl::StrCat("static thread_local weft_on_host::UnboundedArray<", type, ">& ",
                      words[count - 3], " = weft_on_host::DynamicShared<", type, ">();",
                      statement.blanks);
}

// How many words come before what follows a declared name; commas between angle brackets are the type's.
size_t EndOfName(const Texts& words) {
  int angles = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "<") ++angles;
    if (words[i] == ">") --angles;
    const bool ends = words[i] == "=" || words[i] == "[" || words[i] == "(" || words[i] == ",";
    if (angles <= 0 && ends) return i;
  }
  return words.size();
}

// The name of the variable that the statement declares for the whole program, or nothing.
absl::string_view GlobalName(const Statement& statement) {
  if (statement.end != ";" || !Has(statement.words, {"__constant__", "__device__"})) return "";
  if (Has(statement.words, {"extern", "template", "typedef", "using", "friend", "operator",
                            "constexpr", "__shared__", "struct", "class", "union", "enum"})) {
    return "";
  }
  const Texts words = WithoutAttributes(statement.words, {});
  if (Has(words, {"const"}) && !Has(words, {"*"})) return "";  // nobody may write it
  const size_t end = EndOfName(words);
  if (end == 0 || (end < words.size() && (words[end] == "(" || words[end] == ","))) return "";
  // Behind an array's sizes: the end, or what it begins with.
  for (size_t i = end; i < words.size() && words[i] != "="; ++i) {
    if (words[i] == ",") return "";
  }
  return words[end - 1];
}

// The braces that are open, of which only those of namespaces are let through.
class Scopes {
 public:
  void Open(const Texts& words) {
    auto first = words.begin();
    if (first != words.end() && *first == "inline") ++first;
    const bool is_namespace = first != words.end() && *first == "namespace";
    const bool is_linkage = words.size() == 2 && words[0] == "extern";
    std::string name;
    if (is_namespace) name = absl::StrJoin(first + 1, words.end(), "");
    names_.push_back(std::move(name));
    others_ += is_namespace || is_linkage ? 0 : 1;
    transparent_.push_back(is_namespace || is_linkage);
  }
  void Close() {
    if (names_.empty()) return;
    others_ -= transparent_.back() ? 0 : 1;
    names_.pop_back();
    transparent_.pop_back();
  }
  bool in_namespace() const { return others_ == 0; }
  std::string Qualified(absl::string_view name) const {
    std::string qualified;
    for (const std::string& part : names_) {
      if (!part.empty()) absl::StrAppend(&qualified, part, "::");
    }
    return absl::StrCat(qualified, name);
  }

 private:
  std::vector<std::string> names_;
  std::vector<bool> transparent_;
  int others_ = 0;
};

// As it was; but beside a __shared__, which says static already, without that word, and with alignas as the attribute
// that may stand there.
void AppendAsWritten(const std::vector<Token>& tokens, size_t from, size_t to, bool shared,
                     std::string* out) {
  for (; from < to; ++from) {
    absl::string_view text = tokens[from].text;
    if (shared && text == "alignas") text = "__align__";
    if (shared && text == "static") text = "";
    absl::StrAppend(out, text);
  }
}

}  // namespace

std::string HostRewriter::Rewrite(absl::string_view code) {
  const std::vector<Token> tokens = SplitTokens(code);
  std::string out;
  Scopes scopes;
  for (size_t at = 0; at < tokens.size();) {
    if (tokens[at].kind == Kind::kBlank) {
      absl::StrAppend(&out, tokens[at++].text);
      continue;
    }
    const Statement statement = ReadStatement(tokens, at);
    const std::string dynamic = DynamicShared(statement);
    if (!dynamic.empty()) {
      absl::StrAppend(&out, dynamic);
    } else {
      AppendAsWritten(tokens, at, statement.next, Has(statement.words, {"__shared__"}), &out);
      const absl::string_view name =
          scopes.in_namespace() ? GlobalName(statement) : absl::string_view();
      if (!name.empty()) {
        absl::StrAppend(&out, " static weft_on_host::Global weft_on_host_global_", globals_++,
                        "(\"", scopes.Qualified(name), "\", &", name, ", sizeof(", name, "));");
      }
    }
    if (statement.end == "{") scopes.Open(statement.words);
    if (statement.end == "}") scopes.Close();
    at = statement.next;
  }
  return out;
}

}  // namespace weft::kernels
