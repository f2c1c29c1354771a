import { createParser } from "eventsource-parser";
import { CodedError } from "../../src/base/error.ts";
import { within } from "../../src/base/timers.ts";
import { realSystem } from "../../src/ports/system.ts";

/** Thrown if a server does not send anything in time. */
export class ResponseTimeout extends CodedError {
  override readonly name = "ResponseTimeout";
  readonly code = "nothing_sent";
}

/**
 * The body, piece by piece; no piece is empty.
 * @throws {ResponseTimeout} nothing has arrived for `timeoutMs`; or the signal's reason when aborted
 */
export async function* readWithin(
  response: Response,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const timeoutError = () => new ResponseTimeout(`it sent nothing for ${timeoutMs} ms`);
  try {
    while (true) {
      const { done, value } = await within(reader.read(), {
        system: realSystem,
        ms: timeoutMs,
        timeoutError,
        signal,
      });
      if (done) return;
      if (value.length > 0) yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Maximum length of an event, characters. */
const MAX_EVENT_LENGTH = 1 << 20;

/**
 * The data of each event of a `text/event-stream`, as its bytes arrive; other fields are skipped.
 * @throws {Error} an event is longer than 1 MiB
 */
export async function* eventData(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const data: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    onEvent: (event) => data.push(event.data),
    onError: ({ type }) => {
      isTooLong ||= type === "max-buffer-size-exceeded";
    },
  });
  for await (const piece of bytes) {
    parser.feed(decoder.decode(piece, { stream: true }));
    yield* data.splice(0);
    if (isTooLong) throw new Error(`it sent an event of more than ${MAX_EVENT_LENGTH} characters`);
  }
}
