// biome-ignore lint/suspicious/noExplicitAny: each event has its own argument
type Listener = (argument: any) => void;

/** The listeners of a client, by event. A listener that throws aborts the action that emitted the event. */
export class ClientEvents {
  readonly #byEvent = new Map<string, Listener[]>();

  on(event: string, listener: Listener): void {
    this.#byEvent.set(event, [...(this.#byEvent.get(event) ?? []), listener]);
  }

  off(event: string, listener: Listener): void {
    const listeners = [...(this.#byEvent.get(event) ?? [])];
    const at = listeners.lastIndexOf(listener);
    if (at >= 0) listeners.splice(at, 1);
    this.#byEvent.set(event, listeners);
  }

  emit(event: string, argument: unknown): void {
    for (const listener of this.#byEvent.get(event) ?? []) listener(argument);
  }
}
