import { describe, expect, test } from "vitest";
import { CodedError } from "../../src/base/error.ts";
import * as client from "../../src/client/index.ts";
import * as ringport from "../../src/index.ts";
import * as testing from "../../src/testing/index.ts";

type ErrorClass = (abstract new (...values: never[]) => Error) & { readonly prototype: Error };

function isErrorClass(value: unknown): value is ErrorClass {
  return typeof value === "function" && (value.prototype as unknown) instanceof Error;
}

const ENTRIES: [string, Readonly<Record<string, unknown>>][] = [
  ["ringport", ringport],
  ["ringport/client", client],
  ["ringport/testing", testing],
];

const errorClasses = ENTRIES.flatMap(([entry, entryExports]) =>
  Object.entries(entryExports).flatMap(([name, value]) => (isErrorClass(value) ? [{ entry, name, value }] : [])),
);

describe("the package's error classes", () => {
  test("are found by their exports", () => {
    const names = errorClasses.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["Refusal", "StorageUnavailable", "DialError", "RingportError"]));
  });

  test.each(errorClasses)("$name of $entry extends CodedError", ({ value }) => {
    expect(value === CodedError || value.prototype instanceof CodedError).toBe(true);
  });

  test.each([
    [new ringport.Refusal("queue_full", "full"), "queue_full"],
    [new ringport.StorageUnavailable("down"), "storage_unavailable"],
    [new ringport.StorageLocked("taken"), "storage_locked"],
    [new ringport.DialError("busy", "busy"), "dial_failed"],
    [new ringport.SpeechFailed("no voice"), "speech_failed"],
    [new ringport.NothingToSpeak("silence"), "speech_failed"],
    [new ringport.VoiceUnavailable("no voice"), "voice_unavailable"],
    [new ringport.AudioUnsupported("no audio"), "audio_unsupported"],
    [new ringport.TranscriptionFailed("no engine"), "transcription_failed"],
    [new client.RingportError("not_found", "gone"), "not_found"],
  ])("%s has the code %s", (error, code) => {
    expect(error).toBeInstanceOf(CodedError);
    expect(error.code).toBe(code);
  });
});
