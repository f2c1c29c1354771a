import { describe, expect, test } from "vitest";
import { placeholderFault } from "../../../src/domain/agents/agent-variables.ts";

describe("a text's placeholders", () => {
  test.each(["Hello {{name}}, {{ time }}.", "{name} } }} {", "{{{name}}}", "no placeholder", '{"a":{"b":1}}'])(
    "in %j have no fault",
    (text) => expect(placeholderFault(text)).toBeUndefined(),
  );

  test.each([
    ["Hello {{name, see you", '"{{name" is not closed: write {{name}}'],
    ["Hello {{name, see you at {{time}}", '"{{name" is not closed: write {{name}}'],
    ["Hello {{name, see you at {time}", '"{{name" is not closed: write {{name}}'],
    ["Hello {{name, see you soon}", '"{{name" is not closed: write {{name}}'],
    ["Hello {{ name }, see you", '"{{ name }" is not closed: write {{name}}'],
    ["{{name}} and {{", '"{{" is not closed: write {{name}}'],
    ["{{\nname\n}", '"{{\nname" is not closed: write {{name}}'],
    ["{{}}", '"{{}}" has no name: write {{name}}'],
    ["{{ }}", '"{{ }}" has no name: write {{name}}'],
    ["{{ {{name}} }}", '"{{" is not closed: write {{name}}'],
    ["{{endere\u00e7o", '"{{endere\u00e7o" is not closed: write {{endereco}}'],
    [`{{${"a".repeat(500)}`, `"{{${"a".repeat(80)}" is not closed: write {{${"a".repeat(64)}}}`],
  ])("in %j have the fault %s", (text, fault) => expect(placeholderFault(text)).toBe(fault));

  test.each([
    ["first name", "first_name"],
    ["endere\u00e7o", "endereco"],
    ["1st", "st"],
    ["123", "name"],
    ["a".repeat(65), "a".repeat(64)],
  ])("must name a variable, unlike {{%s}}", (name, correctedName) =>
    expect(placeholderFault(`Hello {{${name}}}.`)).toBe(
      `"{{${name}}}" has no name of a variable (1 to 64 letters, digits and _, starting with a letter): write {{${correctedName}}}`,
    ),
  );
});
