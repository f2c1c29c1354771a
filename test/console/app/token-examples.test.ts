import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  curlTokenExample,
  type TokenUse,
  typescriptExample,
} from "../../../adapters/console/app/pages/tokens/token-examples.ts";

const use: TokenUse = { url: "http://127.0.0.1:8080", token: "rp_live_abc", scopes: null, instance: "inst_1" };

describe("the example for a new token", () => {
  test("places a call if the token allows it and there is an instance", () => {
    expect(curlTokenExample(use)).toContain("/v1/calls'");
    expect(typescriptExample(use)).toContain("ringport.calls.create({");
  });

  test.each([
    [["read"], "inst_1", "ringport.instances.list()"],
    [["admin"], "inst_1", "ringport.instances.create({"],
    [["call"], undefined, "ringport.instances.list()"],
    [null, undefined, "ringport.instances.create({"],
  ] as const)("with the scopes %j and the instance %s calls %s", (scopes, instance, code) => {
    expect(typescriptExample({ ...use, scopes, instance })).toContain(code);
  });

  test("is one shell command, whatever the server's address", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("'", '"', "$", "`", "\\", " ", ";", "&", "a") }), (path) => {
        const url = `http://host/${path}`;
        expect(shellWords(curlTokenExample({ ...use, url }))).toContain(`${url}/v1/calls`);
      }),
      { numRuns: 20 },
    );
  });
});

/**
 * The words of a command as a POSIX shell splits them (§2.2, §2.3): quotes, escaped characters and escaped line ends.
 */
function shellWords(command: string): string[] {
  const words = command.matchAll(/(?:'[^']*'|\\[^\n]|[\w:/.-])+|\\\n|\s+|(.)/g);
  return [...words]
    .map(([word, unquoted]) => {
      expect(unquoted, `${unquoted} outside of quotes in ${command}`).toBeUndefined();
      return word.replace(/'([^']*)'|\\(.)/g, "$1$2");
    })
    .filter((word) => word.trim() !== "" && word !== "\\\n");
}
