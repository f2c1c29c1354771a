/** Longest line and longest event, characters. */
const LONGEST = 1 << 20;

/**
 * The data of each event of a `text/event-stream`, as its bytes arrive; other fields are skipped.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * @throws {Error} a line or an event is longer than 1 MiB
 */
export async function* eventData(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let open = "";
  let data: string[] = [];
  let length = 0;
  for await (const piece of bytes) {
    open += decoder.decode(piece, { stream: true });
    const lines = open.split(/\r\n|\n|\r(?!$)/);
    open = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
        length = 0;
      } else if (line.startsWith("data:")) {
        data.push(line.slice(line[5] === " " ? 6 : 5));
        length += line.length;
      }
    }
    if (open.length > LONGEST || length > LONGEST)
      throw new Error(`it sent an event of more than ${LONGEST} characters`);
  }
}
