import { expect, test } from "vitest";
import { tagsAtEnd } from "../../../src/audio/sniffing/file-tags.ts";
import { concatBytes, letters } from "../wav/wav-files.ts";

const audio = new Uint8Array(2_000).fill(0x55);
const id3v1 = concatBytes([letters("TAG"), new Uint8Array(125).fill(0x41)]);

test.each([
  ["its size", "LYRICSBEGININD0000200LYR00002hi000031LYRICS200"],
  ["a wrong size", "LYRICSBEGININD0000200LYR00002hi000032LYRICS200"],
  ["no number as its size", "LYRICSBEGININD0000200LYR00002hi00x031LYRICS200"],
  ["no size", "LYRICSBEGINhiLYRICSEND"],
])("a Lyrics3 tag with %s is found at the end of a file", (_, lyrics) => {
  expect(tagsAtEnd(concatBytes([audio, letters(lyrics)]))).toBe(audio.length);
  expect(tagsAtEnd(concatBytes([audio, letters(lyrics), id3v1]))).toBe(audio.length);
});

test("the end of a Lyrics3 tag without its beginning is audio", () => {
  const file = concatBytes([audio, letters("000031LYRICS200")]);
  expect(tagsAtEnd(file)).toBe(file.length);
});
