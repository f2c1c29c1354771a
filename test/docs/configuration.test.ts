import { expect, test } from "vitest";
import { CODE_ONLY_OPTIONS, SETTING_GROUPS, SETTINGS } from "../../adapters/cli/settings/all-settings.ts";
import type { Setting } from "../../adapters/cli/settings/setting.ts";
import { expectPage, table } from "./generated.ts";
import { PAGES, textOf } from "./pages.ts";

test("docs/configuration.md lists every setting", () => expectPage("docs/configuration.md", page()));

test("a documented default is a valid value, or a description", () => {
  for (const { env, parser, fallback } of SETTINGS)
    expect(parser.parse(fallback) !== undefined || DESCRIBED_DEFAULTS.has(fallback), `${env}: ${fallback}`).toBe(true);
});

test("pages name only settings that exist", () => {
  const variables = SETTINGS.map(({ env }) => env);
  for (const page of PAGES)
    for (const [name] of textOf(page).matchAll(/\bRINGPORT_[A-Z_]+\b/g))
      if (!CLIENT_VARIABLES.has(name)) expect(variables, `${page}: ${name}`).toContain(name);
});

test("every setting is mentioned by a guide", () => {
  const guides = PAGES.filter((page) => page !== "docs/configuration.md")
    .map(textOf)
    .join("\n");
  const words = new Set(guides.match(/\b[A-Z]+(?:_[A-Z]+)*\b/g));
  expect(SETTINGS.map(({ env }) => env).filter((env) => !words.has(env))).toEqual([]);
});

/** Variables with which the command line reaches a server. */
const CLIENT_VARIABLES: ReadonlySet<string> = new Set(["RINGPORT_URL", "RINGPORT_TOKEN"]);
/** Defaults that are described in words. */
const DESCRIBED_DEFAULTS: ReadonlySet<string> = new Set([
  "en-US-1, or the first voice that works",
  "none",
  "off",
  "forever",
  "as long as the call",
  "host, port",
  "one fewer than the processors",
  "generated, kept in the data folder",
]);

function page(): string {
  const groups = Object.entries(SETTING_GROUPS).map(
    ([title, settings]) =>
      `## ${title}\n\n${table(["variable", "flag", "value", "default", "option", "what it does"], settings.map(row))}`,
  );
  return `# Configuration

Made from \`adapters/cli/settings/all-settings.ts\`, \`adapters/cli/settings/sip-settings.ts\` and \`adapters/cli/settings/tuning-settings.ts\` by \`test/docs/configuration.test.ts\`; run it with
\`UPDATE_DOCS=1\` after a change. \`ringport serve --help\` prints the same.

Every setting has a default. Each is an environment variable and a flag of \`ringport serve\`; the flag wins, and an empty variable
counts as unset. In a program the same setting is an option of \`createRingport\`; the column *option* has its name.

With an invalid value the server does not start: it prints one line with the value and the fix, and exits with code 2 without creating
anything. An unknown variable that begins with \`RINGPORT_\` counts as invalid; the line suggests the name that you
probably meant, or the option of a program. Secrets have no flag, because every user of a machine can read the flags of its programs.

\`\`\`sh
PORT=80x ringport serve || echo "exit code $?"
\`\`\`

\`\`\`text
ringport: PORT is "80x": it must be a whole number from 0 to 65535
exit code 2
\`\`\`

${groups.join("\n\n")}

## Only in a program

These options have no variable: \`createRingport\` takes them.

${table(
  ["option", "why"],
  Object.entries(CODE_ONLY_OPTIONS).map(([name, reason]) => [`\`${name}\``, reason]),
)}
`;
}

function row({ env, flag, parser, fallback, option, help }: Setting): string[] {
  const value = parser.placeholder === undefined ? "1, 0" : parser.expected.replace(/^a(n|) /, "");
  const optionName = ["port", "hostname", "tls.cert", "tls.key", "tokenFile", "log", "logMaskNumbers"].includes(option)
    ? ""
    : `\`${option}\``;
  const defaultText = DESCRIBED_DEFAULTS.has(fallback) ? fallback : `\`${fallback}\``;
  return [`\`${env}\``, flag === undefined ? "" : `\`--${flag}\``, value, defaultText, optionName, help];
}
