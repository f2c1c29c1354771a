import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const enum|const|let|function\*?|class|type|interface|enum) (\w+)/gm;

/** Files that may export a name that another file exports too. */
const SHARED_EXPORTS: readonly (readonly [path: string, reason: string])[] = [
  ["adapters/server/bun.ts", "each runtime has its serve()"],
  ["adapters/server/deno.ts", "each runtime has its serve()"],
  ["src/http/response-types.ts", "generated: the JSON of a record, by the record's public name"],
  ["src/client/list-pages.ts", "ringport/client: pages of JSON"],
  ["src/client/http-transport.ts", "ringport/client: options of a request"],
  ["src/client/stream/call-listening.ts", "ringport/client: listening over HTTP"],
  ["src/client/stream/call-stream.ts", "ringport/client: a stream over HTTP"],
  ["src/client/stream/stream-messages.ts", "ringport/client: a stream over HTTP"],
];

test("an exported name belongs to one file", () => {
  expect(repeatedNames(SHARED_EXPORTS.map(([path]) => path))).toEqual([]);
});

test("every exception to the rule is in use", () => {
  const staleExceptions = SHARED_EXPORTS.filter(([path]) => {
    const otherPaths = SHARED_EXPORTS.map(([other]) => other).filter((other) => other !== path);
    return repeatedNames(otherPaths).length === 0;
  });
  expect(staleExceptions).toEqual([]);
});

/** Names that two files export, apart from the exempt files. */
function repeatedNames(exemptPaths: readonly string[]): string[] {
  const files = new Map<string, string[]>();
  for (const { path, text } of sourceFiles())
    for (const [, name = ""] of text.matchAll(EXPORT)) files.set(name, [...(files.get(name) ?? []), path]);
  return [...files].flatMap(([name, paths]) => {
    const exportingPaths = paths.filter((path, index) => paths.indexOf(path) === index && !exemptPaths.includes(path));
    return exportingPaths.length > 1 ? [`${name}: ${exportingPaths.join(", ")}`] : [];
  });
}
