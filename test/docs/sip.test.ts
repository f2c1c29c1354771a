import ts from "typescript";
import { expect, test } from "vitest";
import { faultText, parseTrunks } from "../../adapters/telephony/sip/config/parse-trunks.ts";
import type { Trunk } from "../../adapters/telephony/sip/config/trunk-config.ts";
import { whatsappBusiness } from "../../adapters/telephony/sip/config/whatsapp-business.ts";
import { Q850_MEANINGS, STATUS_MEANINGS } from "../../adapters/telephony/sip/outcome/release-causes.ts";
import { expectPart, table } from "./generated.ts";
import { blocksOf, fileOf, PAGES, textOf } from "./pages.ts";

const CONFIG = "adapters/telephony/sip/config/";
/** Options of a trunk that are objects: the interface of each, and its file. */
const NESTED_TYPES: ReadonlyMap<string, { readonly name: string; readonly path: string }> = new Map([
  ["TrunkTls", { name: "TlsOptions", path: "adapters/sip-stack/transport/tls.ts" }],
  ["TrunkListener", { name: "StreamServerOptions", path: "adapters/sip-stack/transport/stream-listener.ts" }],
]);

test("docs/sip.md lists every option of a trunk", () =>
  expectPart("docs/sip.md", "trunk options", table(["option", "type", "what it does"], optionsOf("Trunk", ""))));

test("docs/sip.md lists every option of a route", () => {
  const rows = [
    ...optionsOf("Route", "", `${CONFIG}route-config.ts`),
    ...optionsOf("RouteTrunk", "trunks.", `${CONFIG}route-config.ts`),
  ];
  return expectPart("docs/sip.md", "route options", table(["option", "type", "what it does"], rows));
});

test("docs/sip.md lists the outcome of each SIP status", () => expectPart("docs/sip.md", "outcomes", outcomes()));

test("documented trunks are valid", () => {
  const blocks = PAGES.flatMap(blocksOf).filter(({ note }) => note === "Trunks");
  expect(blocks.length).toBeGreaterThanOrEqual(10);
  for (const { page, line, text } of blocks)
    expect(parseTrunks(JSON.parse(text)).faults?.map(faultText) ?? [], `${page}:${line}`).toEqual([]);
  expect(parseTrunks(JSON.parse(textOf("examples/sip-trunk/pair/trunks.json"))).faults).toBeUndefined();
});

test("the table of symptoms names options that exist", () => {
  const [, part = ""] = textOf("docs/sip.md").split("## Troubleshooting by symptom");
  const rows = part
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => /^\| (?!symptom|-)/.test(line));
  const optionNames = new Set(optionsOf("Trunk", "").map(([name]) => name!));
  const namedOptions = rows.map((row) =>
    [
      ...row
        .split(" | ")
        .at(-1)!
        .matchAll(/`[a-z][\w.]*`/gi),
    ].map(([name]) => name),
  );
  expect(rows.length).toBeGreaterThan(15);
  expect(namedOptions.flat().filter((name) => !optionNames.has(name))).toEqual([]);
  expect(namedOptions.filter((names) => names.length === 0).length).toBeLessThanOrEqual(2);
});

test("docs/sip-providers.md names a source for each provider", () => {
  const [, ...sections] = textOf("docs/sip-providers.md").split(/^## /m);
  expect(sections.length).toBeGreaterThanOrEqual(6);
  for (const section of sections) {
    const [name] = section.split("\n");
    expect(section, name).toMatch(/\nSource: .+\]\(https?:[^)]+\)[\s\S]*read \w+ \d{4}\.\s*$/);
  }
});

test("the WhatsApp Business trunk is the output of whatsappBusiness", () => {
  const trunks = blocksOf("docs/sip-providers.md").map(({ text }) => JSON.parse(text)[0] as Trunk);
  expect(trunks.find(({ name }) => name === "whatsapp-business")).toEqual(
    whatsappBusiness({
      phoneNumber: "+447700900123",
      hostname: "sip.example.com",
      password: "s3cret",
      certificate: "/etc/ssl/sip.example.com.pem",
      key: "/etc/ssl/sip.example.com.key",
    }),
  );
});

/** Members of an interface in a file, in source form. */
function optionsOf(name: string, prefix: string, path = `${CONFIG}trunk-config.ts`): string[][] {
  const source = ts.createSourceFile(fileOf(path), textOf(path), ts.ScriptTarget.ES2023, true);
  const declaration = source.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  if (!declaration || !ts.isInterfaceDeclaration(declaration)) return [];
  return declaration.members.flatMap((member) => {
    if (!ts.isPropertySignature(member) || !member.type) return [];
    const option = member.name.getText(source);
    const type = member.type
      .getText(source)
      .replace(/ \| undefined$/, "")
      .replace(/readonly (?=TrunkCodec|RouteTrunk)/, "");
    const meaning = (ts.getJSDocCommentsAndTags(member)[0]?.comment ?? "").toString().replace(/\s+/g, " ");
    const nested = NESTED_TYPES.get(type);
    const row = [`\`${prefix}${option}\``, nested ? "" : `\`${type}\``, meaning];
    return nested ? [row, ...optionsOf(nested.name, `${option}.`, nested.path)] : [row];
  });
}

/** Statuses whose meaning depends on earlier responses. */
const RINGING_NOTES: ReadonlyMap<string, string> = new Map([
  ["408", "`no_answer` after an 18x"],
  ["480", "`no_answer` if the phone had rung"],
]);

/** End of a refused call, by the peer's response. */
function outcomes(): string {
  const statuses = Object.entries(STATUS_MEANINGS).map(([status, { cause, fix = "" }]) => [
    `SIP ${status}`,
    `\`${cause}\``,
    RINGING_NOTES.get(status) ?? fix,
  ]);
  const byCause = new Map<string, string[]>();
  for (const [code, cause] of Object.entries(Q850_MEANINGS)) byCause.set(cause, [...(byCause.get(cause) ?? []), code]);
  const causes = [...byCause].map(([cause, codes]) => [`Q.850 ${codes.join(", ")}`, `\`${cause}\``, ""]);
  return [
    "Any other refusal is `rejected_by_network`. `detail` always has the raw status, the `Reason`, and the fix if it is known. A Q.850 cause counts",
    "if the status leaves the reason open. A 503 with `Retry-After` also keeps the next calls waiting for that time.",
    "",
    table(["response", "reason", "what to do"], [...statuses, ...causes]),
  ].join("\n");
}
