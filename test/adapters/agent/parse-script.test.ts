import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseScript, ScriptFault } from "../../../adapters/agent/scripted/parse-script.ts";
import { comparable } from "../../../src/base/comparable.ts";
import { fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";

const steps = (...instructions: string[]) => parseScript(instructions).steps;

describe("a script", () => {
  test("is read line by line, in one instruction or in several", () => {
    const expectedSteps = [
      { do: "say", text: "Good morning." },
      {
        do: "ask",
        name: "visit",
        text: "Will you come? Press 1 for yes.",
        digits: undefined,
        branches: [{ keys: ["1"], words: ["yes"], steps: [{ do: "say", text: "Good; thank you." }] }],
        otherwise: [{ do: "ask_again" }],
        noAnswer: [{ do: "say", text: "Bye" }, { do: "hang_up" }],
      },
      { do: "hang_up" },
    ];
    const lines = [
      "Say: Good morning.",
      "Ask visit: Will you come? Press 1 for yes.",
      'If 1 or "yes": say: "Good; thank you."; continue',
      "otherwise: ask again",
      'If nothing: say "Bye"; hang up',
      "Hang up.",
    ];
    expect(steps(...lines)).toEqual(expectedSteps);
    expect(steps(lines.join("\r\n  "))).toEqual(expectedSteps);
  });

  test.for([
    ["Ask code for 4 digits: The code?", "code", { min: 4, max: 4 }],
    ["ASK for 1 to 3 digits: How many?", undefined, { min: 1, max: 3 }],
    ["Ask: Anything?", undefined, undefined],
    ["Ask “Anything?”", undefined, undefined],
    ['Ask Größe "How big?"', "größe", undefined],
  ] as const)("%s is a question", ([line, name, digits]) => {
    expect(steps(line)).toMatchObject([{ do: "ask", name, digits }]);
  });

  test.for([
    ["they press 1, key 2 or the callee says No!", ["1", "2"], ["no"]],
    ["#", ["#"], []],
    ["sim, é claro", [], ["sim", "e claro"]],
  ] as const)("%s is an answer", ([answer, keys, words]) => {
    expect(steps("Ask: x?", `If ${answer}: hang up`)).toMatchObject([
      { branches: [{ keys, words, steps: [{ do: "hang_up" }] }] },
    ]);
  });

  test.for([
    [["Greet the callee."], 'instruction 1 ("Greet the callee.") is not part of a script: a step begins with'],
    [["Say hello to them"], "a step begins with"],
    [
      ["Say: hi", "If 1: hang up"],
      'instruction 2 ("If 1: hang up") is not part of a script: "If" and "Otherwise" follow',
    ],
    [["Say: …!"], "its text has no letter and no digit"],
    [["Ask: x?", "If 1: dance"], '"dance" cannot follow an answer'],
    [["Ask: x?", "If 1: hang up", "If 1: hang up"], "the answer 1 already has a branch"],
    [["Ask: x?", "Otherwise: hang up", "Otherwise: hang up"], 'already has an "Otherwise"'],
    [["Ask: x?", "If nothing: hang up", "If nothing: hang up"], 'already has an "If nothing"'],
    [["Ask: x?", "If …: hang up"], '"If" is followed by keys or words'],
    [["Ask a: x?", "Ask a: y?"], "another question is already named a"],
    [["Ask a: x?", "If 1: go to b"], 'the script goes to b, but no question has that name: write "Ask b: …"'],
    [["Ask for 0 digits: x?"], "1 to 32 digits"],
    [["Ask for 33 digits: x?"], "1 to 32 digits"],
    [["Ask them nicely about it: x?"], 'a question is "Ask:"'],
    [[" \n "], "the instructions have no step"],
  ] as const)("%j is refused with its fault", ([instructions, message]) => {
    expect(() => parseScript(instructions)).toThrow(message);
    expect(() => parseScript(instructions)).toThrow(ScriptFault);
  });

  const word = fc.constantFrom(
    "say",
    "ask",
    "if",
    "otherwise",
    "for",
    "digits",
    "or",
    "1",
    '"',
    "“",
    "”",
    ":",
    ";",
    " ",
    "\n",
    "go to",
    "x",
  );
  const line = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 40 }).map((words) => words.join(" ")),
  );
  fuzz(
    "is read or refused, whatever its text",
    fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (instructions) => {
      try {
        expect(parseScript(instructions).steps.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(ScriptFault);
      }
    }),
  );

  test("is parsed quickly even with the longest hostile lines", () => {
    for (const piece of ['"', "“", "” ", " ", "or ", "say: ", "; ", "for 1 digits "])
      for (const prefix of ["Ask ", "Ask: x?\nIf 1:", "If ", "Say "]) {
        const instructions = Array(100).fill(prefix + piece.repeat(4_000 / piece.length));
        const before = processorMs();
        try {
          parseScript(instructions);
        } catch (error) {
          expect(error).toBeInstanceOf(ScriptFault);
        }
        expect(processorMs() - before).toBeLessThan(1_000);
      }
  });
});

test("word comparisons ignore case, accents and punctuation", () => {
  expect(comparable("  Não,  OBRIGADO! ")).toBe("nao obrigado");
});

describe("a step that transfers the call", () => {
  test.for(["Transfer to +12025550123", "transfer: +1 202 555-0123.", "TRANSFER TO (+1) 202.555.0123"])(
    "%s",
    (line) => {
      expect(steps(line)).toEqual([{ do: "transfer", to: "+12025550123" }]);
      expect(steps("Ask: Sure?", `If 1: ${line}`)).toMatchObject([
        { branches: [{ steps: [{ do: "transfer", to: "+12025550123" }] }] },
      ]);
    },
  );

  test.for([
    "Transfer to 911",
    "Transfer",
    "Transfer to Bob",
    "Transfer to {{number}}",
    "Transfer to +12025550123;x=1",
  ])("%s is refused with the rule for numbers", (line) => {
    expect(() => steps(line)).toThrow(/the number to transfer to must be an E.164 number/);
  });
});
