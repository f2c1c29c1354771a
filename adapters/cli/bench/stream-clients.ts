import process from "node:process";
import { type BenchMessage, BenchProcess, MeasurementFailed } from "./bench-job.ts";
import { FullDuplex } from "./full-duplex.ts";

/** Clients of live streams in another process. */
export interface StreamClients {
  /** Connects a client to each address; each sends audio and counts what it receives. */
  open(urls: readonly string[]): Promise<void>;
  /** Starts counting. */
  begin(): Promise<void>;
  /** Audio messages since `begin`. */
  counts(): Promise<{ readonly sent: number; readonly received: number }>;
}

/** A request to the process; each is followed by one message with its counters. */
type ClientsRequest =
  | { readonly type: "open"; readonly urls: readonly string[] }
  | { readonly type: "begin" }
  | { readonly type: "counts" };

type CountsMessage = Extract<BenchMessage, { type: "counts" }>;

/** Starts the process, which ends with this one. */
export function startStreamClients(): StreamClients {
  const waiting: PromiseWithResolvers<CountsMessage>[] = [];
  const clients = new BenchProcess({ kind: "stream-clients" }, (message) => {
    if (message.type === "counts") waiting.shift()?.resolve(message);
    else if (message.type === "failed")
      for (const { reject } of waiting.splice(0)) reject(new MeasurementFailed(`the clients: ${message.reason}`));
  });
  const request = (message: ClientsRequest): Promise<CountsMessage> => {
    const reply = Promise.withResolvers<CountsMessage>();
    waiting.push(reply);
    clients.send(message);
    return reply.promise;
  };
  return {
    open: async (urls) => void (await request({ type: "open", urls })),
    begin: async () => void (await request({ type: "begin" })),
    counts: () => request({ type: "counts" }),
  };
}

/** Runs the clients in the process that was started for them. @param reject called if one of them fails */
export function runStreamClients(send: (message: BenchMessage) => void, reject: (reason: unknown) => void): void {
  const clients = new FullDuplex();
  let turn: Promise<void> = Promise.resolve();
  const run = async (request: ClientsRequest): Promise<void> => {
    if (request.type === "open") await clients.open(request.urls);
    if (request.type === "begin") clients.begin();
    const { sent, received } = clients;
    send({ type: "counts", sent, received });
  };
  process.on("message", (request: ClientsRequest) => {
    turn = turn.then(() => run(request)).catch(reject);
  });
}
