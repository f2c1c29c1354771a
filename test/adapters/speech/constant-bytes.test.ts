import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { flitePath } from "../../../adapters/speech/flite-job.ts";
import { constantBytes } from "../../../adapters/speech/wasi-command.ts";

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const I32_CONST = 0x41;
const END = 0x0b;
/** A segment of three bytes at address 16. */
const ACTIVE = [0, I32_CONST, 16, END, 3, 1, 2, 3];
const PASSIVE = [1, 3, 1, 2, 3];
const section = (id: number, bytes: number[]): number[] => [id, bytes.length, ...bytes];
const moduleOf = (...sections: number[][]): Uint8Array => Uint8Array.from([...HEADER, ...sections.flat()]);

test("flite's voices are constant, and its memory contains little else", async () => {
  expect(constantBytes(await readFile(flitePath()))).toBe(17_087_080);
});

test.each([
  ["two segments", moduleOf(section(1, [0]), section(11, [2, ...ACTIVE, ...ACTIVE])), 19],
  ["one segment, which may change", moduleOf(section(11, [1, ...ACTIVE])), 0],
  ["a passive segment first", moduleOf(section(11, [2, ...PASSIVE, ...ACTIVE])), 0],
  ["no data section", moduleOf(section(1, [0])), 0],
  ["nothing", new Uint8Array(), 0],
  ["a section that is cut off", moduleOf([11, 200]), 0],
])("the constant bytes in a module with %s are counted", (_, bytes, expected) => {
  expect(constantBytes(bytes)).toBe(expected);
});
