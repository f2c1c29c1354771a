import { CodedError } from "../../../../src/base/error.ts";
import type { ProblemView } from "../../api.ts";
import { CONSOLE } from "./place.ts";
import { watchedFetch } from "./server-reachability.ts";

/** An error response from a console route, or no response at all (status 0, `network_error`). */
export class ConsoleError extends CodedError {
  override readonly name = "ConsoleError";
  readonly status: number;
  readonly code: string;
  /** Seconds to wait before another attempt; null if the server did not send them. */
  readonly retryAfter: number | null;

  constructor({ status, code, detail }: Pick<ProblemView, "status" | "code" | "detail">, retryAfter: number | null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** The routes that only the console has: `consoleApi.get<SessionState>("session")`. All throw {@link ConsoleError}. */
export const consoleApi = {
  get: <T>(route: string, signal?: AbortSignal): Promise<T> => send<T>("GET", route, undefined, signal),
  post: <T = void>(route: string, body: object = {}): Promise<T> => send<T>("POST", route, body),
  delete: (route: string): Promise<void> => send("DELETE", route),
};

async function send<T>(method: string, route: string, body?: object, signal: AbortSignal | null = null): Promise<T> {
  const json = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const request = new Request(`${CONSOLE}/api/${route}`, { method, signal, ...json });
  let response: Response;
  try {
    response = await watchedFetch(request);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ConsoleError({ status: 0, code: "network_error", detail: "the server did not respond" }, null);
  }
  const value: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined);
  if (!response.ok) {
    const retryAfter = response.headers.get("retry-after");
    throw new ConsoleError(problemOf(value, response.status), retryAfter === null ? null : Number(retryAfter));
  }
  return value as T;
}

function problemOf(value: unknown, status: number): Pick<ProblemView, "status" | "code" | "detail"> {
  const { code, detail } = (typeof value === "object" && value !== null ? value : {}) as Partial<ProblemView>;
  if (typeof code === "string" && typeof detail === "string") return { status, code, detail };
  return { status, code: "unexpected_answer", detail: `the server returned ${status}` };
}
