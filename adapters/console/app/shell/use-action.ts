import { useSignal } from "@preact/signals";

/** An action that a user starts with a button or a form. */
export interface Action<A extends unknown[]> {
  /** True while it is running. */
  readonly busy: boolean;
  /** Cause of the failure; undefined while the action is running and once it has succeeded. */
  readonly fault: unknown;
  /** Starts the action, unless it is running. */
  start(...values: A): void;
  /** Clears the failure, once its cause has been changed. */
  forget(): void;
}

/**
 * An action that runs at most once at a time.
 *
 * ```tsx
 * const save = useAction(async () => beginSession(await consoleApi.post("password", body)));
 * return <Button busy={save.busy} onClick={() => save.start()}>Save</Button>;
 * ```
 */
export function useAction<A extends unknown[]>(run: (...values: A) => Promise<void>): Action<A> {
  const busy = useSignal(false);
  const fault = useSignal<unknown>(undefined);
  const start = async (...values: A): Promise<void> => {
    if (busy.peek()) return;
    busy.value = true;
    fault.value = undefined;
    try {
      await run(...values);
    } catch (error) {
      fault.value = error;
    } finally {
      busy.value = false;
    }
  };
  return {
    busy: busy.value,
    fault: fault.value,
    start: (...values) => void start(...values),
    forget: () => {
      fault.value = undefined;
    },
  };
}
