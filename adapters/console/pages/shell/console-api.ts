import type { ProblemView } from "../../api.ts";
import { watchedFetch } from "./connection.ts";
import { CONSOLE } from "./place.ts";

/** A refusal of a route of the console, or a response that never came (status 0, `network_error`). */
export class ConsoleError extends Error {
  override readonly name = "ConsoleError";
  readonly status: number;
  readonly code: string;

  constructor({ status, code, detail }: Pick<ProblemView, "status" | "code" | "detail">) {
    super(detail);
    this.status = status;
    this.code = code;
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
    throw new ConsoleError({ status: 0, code: "network_error", detail: "the server did not respond" });
  }
  const value: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined);
  if (!response.ok) throw new ConsoleError(problemOf(value, response.status));
  return value as T;
}

function problemOf(value: unknown, status: number): Pick<ProblemView, "status" | "code" | "detail"> {
  const { code, detail } = (typeof value === "object" && value !== null ? value : {}) as Partial<ProblemView>;
  if (typeof code === "string" && typeof detail === "string") return { status, code, detail };
  return { status, code: "unexpected_answer", detail: `the server returned ${status}` };
}
