import type { Principal } from "../domain/access/principal.ts";

/** The part of a WHATWG `Request` that the core uses; server adapters may pass less than a whole Request. */
export interface RequestLike {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  /** The body as it arrives; null if there is none. Read at most once. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /**
   * Aborted when the client's connection closes; cancels everything that the request is waiting for. Without it, a
   * waiting request keeps its slot until the wait has ended.
   */
  readonly signal?: AbortSignal | undefined;
  /** True if the runtime's WebSockets buffer whole messages of any size, so fewer sockets are allowed. */
  readonly buffersMessages?: boolean | undefined;
}

/** A response as plain data: adapters that own the socket write it directly. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  /**
   * A body in pieces is iterated at most once, no faster than the client reads. If it throws, the response is cut off.
   */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** A WebSocket of a server adapter. */
export interface Socket {
  send(data: string | Uint8Array): void;
  /** Number of bytes accepted by `send` but not sent yet. */
  readonly bufferedAmount: number;
  /** Resolves when the buffer is empty, or the socket has closed. */
  drained(): Promise<void>;
  close(code?: number, reason?: string): void;
  /** Stops reading until {@link resume}, so that the client has to wait. Missing on runtimes that cannot do it. */
  pause?(): void;
  resume?(): void;
}

/** Handlers of an accepted WebSocket. */
export interface SocketHandlers {
  open?(socket: Socket): void;
  message(socket: Socket, data: string | Uint8Array): void;
  close?(socket: Socket, code: number, reason: string): void;
}

/** An application for a server adapter. */
export interface WebApp {
  /**
   * Handles a request; the reply is plain data. Never rejects.
   * @param principal the user, if the program has authenticated them itself: the Authorization header is then ignored
   */
  handle(request: RequestLike, principal?: Principal): Promise<Reply>;
  /**
   * True if the path belongs to this application. A program that mounts it handles all other paths itself. Reads only
   * the URL. Never rejects.
   */
  claims(request: Pick<RequestLike, "url">): Promise<boolean>;
  /** Handles a WHATWG request, for frameworks that use them. */
  fetch(request: Request): Promise<Response>;
  /**
   * Accepts or refuses a WebSocket: a `Reply` is a refusal, to be sent before the handshake.
   * @param principal the caller, as for `handle`
   */
  upgrade(request: RequestLike, principal?: Principal): Promise<Reply | SocketHandlers>;
}
