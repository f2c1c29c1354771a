import { documentFault, type OpenApi } from "./server-document.ts";
import { type HttpResponse, type RequestOptions, send } from "./server-http.ts";
import { readQr } from "./server-qr.ts";
import { readWav, type Sound } from "./server-sound.ts";

export interface InstanceView {
  readonly id: string;
  readonly name: string;
  readonly status: "CREATED" | "CONFIGURED" | "ACTIVE";
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly callQueue?: readonly CallView[];
}

export interface CallView {
  readonly id: string;
  readonly instance_id: string;
  readonly type: string;
  readonly status: "QUEUED" | "RINGING" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
  readonly target_phone: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly outcome?: OutcomeView | null;
}

export interface OutcomeView {
  readonly reason: string;
  readonly detail: string | null;
  readonly answered_by: string | null;
  readonly heard_ms: number | null;
  readonly heard_ratio: number | null;
  readonly heard_evidence: string | null;
  readonly duration_ms: number;
}

export interface EventView {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly call_id: string | null;
  readonly instance_id: string;
  readonly sequence: number | null;
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

export interface ProblemView {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly request_id: string;
  readonly errors?: readonly {
    readonly pointer: string;
    readonly parameter?: string;
    readonly code: string;
    readonly detail: string;
  }[];
}

/** Server of a client; the address changes when it restarts. */
export interface TestServer {
  readonly base: string;
  readonly document: OpenApi | undefined;
  /** Output of the server so far. */
  readonly output: string;
}

/** Default message of {@link Client.call}: two words, shorter than a second. */
export const HELLO = { text: "Hello there.", voiceId: "en-US-1" } as const;
export const LISTENER = "+12025550100";

/** A client with one token, or with none. Every response is checked against the server's own OpenAPI document. */
export class Client {
  readonly #server: TestServer;
  readonly token: string | undefined;

  constructor(server: TestServer, token: string | undefined) {
    this.#server = server;
    this.token = token;
  }

  /** Sends any request. @throws {Error} the response does not fit `/openapi.json` */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
    const authorization = this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
    const headers = { ...authorization, ...options.headers };
    const response = await send(method, this.#server.base + path, { ...options, headers }).catch((cause: Error) => {
      throw new Error(`${cause.message}; the server printed:\n${this.#server.output.slice(-2000)}`, { cause });
    });
    const { document } = this.#server;
    const fault = document && documentFault(document, method, path, response);
    if (fault) throw new Error(fault);
    return response;
  }

  get(path: string, headers: RequestOptions["headers"] = {}): Promise<HttpResponse> {
    return this.send("GET", path, { headers });
  }

  /** Posts a value as JSON. */
  post(path: string, value: unknown, headers: RequestOptions["headers"] = {}): Promise<HttpResponse> {
    return this.send("POST", path, {
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(value),
    });
  }

  patch(path: string, value: unknown, headers: RequestOptions["headers"] = {}): Promise<HttpResponse> {
    return this.send("PATCH", path, {
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(value),
    });
  }

  delete(path: string): Promise<HttpResponse> {
    return this.send("DELETE", path);
  }

  async createInstance(name = "Front desk", metadata?: Record<string, unknown>): Promise<InstanceView> {
    return expected(201, await this.post("/v1/instances", { name, metadata })).json<InstanceView>();
  }

  async instance(id: string): Promise<InstanceView> {
    return expected(200, await this.get(`/v1/instances/${id}`)).json<InstanceView>();
  }

  /** Reads the code for an instance from its picture. */
  async linkUrl(id: string): Promise<string> {
    const { qrCodeBase64 } = expected(200, await this.get(`/v1/instances/${id}/configure`)).json<{
      qrCodeBase64: string;
    }>();
    return readQr(Buffer.from(qrCodeBase64, "base64"));
  }

  /** Links an instance as a person would: reads the code with a camera, opens its address, presses the button. */
  async link(id: string): Promise<void> {
    let response = await send("POST", await this.linkUrl(id));
    // On a busy machine a code may expire before the button is pressed: a person scans the next one.
    for (let tries = 5; response.status === 410 && tries > 0; tries--)
      response = await send("POST", await this.linkUrl(id));
    expected(200, response);
    await this.waitForInstance(id, "ACTIVE");
  }

  /** An instance that can place calls. */
  async activeInstance(name?: string): Promise<InstanceView> {
    const { id } = await this.createInstance(name);
    await this.link(id);
    return this.instance(id);
  }

  async waitForInstance(id: string, status: InstanceView["status"], withinMs = 10_000): Promise<InstanceView> {
    return until(
      () => this.instance(id),
      (instance) => instance.status === status,
      withinMs,
      `the instance to be ${status}`,
    );
  }

  /** Posts a call: by default a spoken one to a number that answers. */
  postCall(
    instanceId: string,
    fields: Record<string, unknown> = {},
    headers: RequestOptions["headers"] = {},
  ): Promise<HttpResponse> {
    const call = { instanceId, type: "FIXED_TTS", target: { phoneNumber: LISTENER }, tts: HELLO, ...fields };
    return this.post("/v1/calls", call, headers);
  }

  /** As {@link postCall}, for a call that must be created. */
  async call(instanceId: string, fields: Record<string, unknown> = {}): Promise<CallView> {
    return expected(201, await this.postCall(instanceId, fields)).json<CallView>();
  }

  /** A call with its outcome. */
  async readCall(id: string): Promise<CallView & { readonly outcome: OutcomeView | null }> {
    return expected(200, await this.get(`/v1/calls/${id}?expand=outcome`)).json();
  }

  async waitForCall(
    id: string,
    status: readonly CallView["status"][] = ["COMPLETED", "FAILED"],
    withinMs = 30_000,
  ): Promise<CallView & { readonly outcome: OutcomeView | null }> {
    return until(
      () => this.readCall(id),
      (call) => status.includes(call.status),
      withinMs,
      `the call to be ${status.join(" or ")}`,
    );
  }

  async timeline(id: string): Promise<EventView[]> {
    return expected(200, await this.get(`/v1/calls/${id}/events`)).json();
  }

  /** The audio that the callee heard. */
  async heard(id: string): Promise<Sound> {
    return readWav(expected(200, await this.get(`/simulator/calls/${id}/heard.wav`)).body);
  }
}

/** The response, if it has this status. @throws {Error} it has another one; the message shows the response */
export function expected(status: number, response: HttpResponse): HttpResponse {
  if (response.status === status) return response;
  throw new Error(`expected status ${status}, got ${response.status}: ${response.text.slice(0, 500)}`);
}

const POLL_MS = 25;

/** Repeats a request until its response is accepted. @throws {Error} the time limit has passed; the message shows the last response */
export async function until<T>(
  request: () => T | Promise<T>,
  isAccepted: (response: T) => boolean,
  withinMs: number,
  description: string,
  pollMs: number = POLL_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const response = await request();
    if (isAccepted(response)) return response;
    if (performance.now() > deadline)
      throw new Error(
        `timed out after ${withinMs} ms waiting for ${description}; last result: ${JSON.stringify(response)}`,
      );
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
