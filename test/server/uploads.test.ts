import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { expectProblem } from "../support/response-shapes.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, type Server, useServer } from "../support/server.ts";
import { type Client, expected } from "../support/server-client.ts";
import { toneWav } from "../support/server-sound.ts";

const MEGABYTE = 1024 * 1024;
const UPLOAD = MEGABYTE;
/** Room for three uploads per user and eight in total. */
const env = {
  RINGPORT_LIMIT_ALL_BODIES_BYTES: String(8 * UPLOAD),
  RINGPORT_LIMIT_USER_BODIES_BYTES: String(3 * UPLOAD),
};
/** An upload without its last byte, with its length in front or in one chunk. */
const WITH_LENGTH = `Content-Length: ${UPLOAD}\r\n\r\n${" ".repeat(UPLOAD - 1)}`;
const CHUNKED_REQUEST = `Transfer-Encoding: chunked\r\n\r\n${UPLOAD.toString(16)}\r\n${" ".repeat(UPLOAD - 1)}`;

/** Sends a request without its last byte, and again whenever it is refused; returns a function that breaks it off. */
function startUpload(server: Server, client: Client, remainder: string): () => void {
  const { hostname, port } = new URL(server.base);
  let socket: Socket;
  let retryTimer: NodeJS.Timeout | undefined;
  const send = () => {
    socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.destroy();
      retryTimer = setTimeout(send, 10); // before the next attempt
    });
    socket.write(`POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${client.token}\r\n${remainder}`);
  };
  send();
  return () => {
    clearTimeout(retryTimer);
    socket.destroy();
  };
}

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target, { env });
  const endFunctions: (() => void)[] = [];
  const endUploads = () => {
    for (const end of endFunctions.splice(0)) end();
  };
  afterEach(endUploads);

  const upload = async (client: Client) => {
    const { id } = await client.createInstance();
    const file = toneWav({ ms: 20_000 }); // 7/8 of an upload in Base64
    return client.postCall(id, { type: "FIXED_AUDIO", audio: { audioBase64: file.toString("base64") } });
  };
  /** Repeats the request until this status. */
  const untilStatus = async (status: number, sendUpload: () => ReturnType<typeof upload>) => {
    for (const deadline = performance.now() + 30_000; performance.now() < deadline; ) {
      const response = await sendUpload();
      if (response.status === status) return response;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return sendUpload();
  };

  describe.each([
    ["with their length", WITH_LENGTH],
    ["in chunks", CHUNKED_REQUEST],
  ])("unfinished uploads of one user, %s,", (_, remainder) => {
    test("the user's next upload is refused until they have ended", async () => {
      const [ada, bob] = [await server.as("ada"), await server.as("bob")];
      for (let upload = 0; upload < 3; upload++) endFunctions.push(startUpload(server, ada, remainder));
      const refusal = await untilStatus(503, () => upload(ada));
      expectProblem(refusal, 503, "server_busy");
      expect(refusal.headers).toMatchObject({ "retry-after": "5", connection: expect.stringContaining("close") });
      expected(201, await upload(bob));
      endUploads();
      expect((await untilStatus(201, () => upload(ada))).status).toBe(201);
    });
  });

  test("unfinished uploads of several users never block a small request", async () => {
    const [ada, bob, eve] = [await server.as("ada"), await server.as("bob"), await server.as("eve")];
    for (const client of [ada, ada, ada, bob, bob, eve]) endFunctions.push(startUpload(server, client, WITH_LENGTH));
    expect((await untilStatus(503, () => upload(eve))).status).toBe(503);
    expected(201, await eve.post("/v1/instances", { name: "still there" }));
  });

  test("a deeply nested body of 3 MiB is refused unparsed", async () => {
    const ada = await server.as("ada");
    const body = "[".repeat(3 * MEGABYTE - 1);
    const response = await ada.send("POST", "/v1/calls", { body });
    expect(expectProblem(response, 400, "invalid_json").detail).toBe("the body is nested deeper than 32 levels");
  });
});
