import { expect, test } from "vitest";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target);

  test("the event stream sends events and heartbeats until the server stops", async () => {
    const token = await server.token("ana");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${server.base}/v1/events`, { headers: { ...headers, accept: "text/event-stream" } });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let receivedText = "";
    const until = async (text: string): Promise<void> => {
      while (!receivedText.includes(text)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended before ${text}: ${receivedText}`);
        receivedText += value;
      }
    };
    await until("retry: ");
    await fetch(`${server.base}/v1/instances`, { method: "POST", headers, body: JSON.stringify({ name: "Streamed" }) });
    await until("instance.created");
    expect(receivedText).toMatch(/id: \S+\ndata: \{/);
    await until(": heartbeat");
    const stopPromise = server.stop();
    for (let done = false; !done; ) ({ done } = await reader.read());
    await stopPromise;
  });
});
