import { type LogFields, type Logger, silentLogger } from "../../ports/logger.ts";
import { realSystem, type System } from "../../ports/system.ts";

/** The logger of an embedding program; its errors are dropped, because there is nowhere else to report them. */
export function guardedLogger(logger: Logger): Logger {
  if (logger === silentLogger) return logger;
  const guardedMethod = (level: keyof Logger) => (fields: LogFields, message: string) => {
    try {
      const result: unknown = logger[level](fields, message);
      if (typeof result === "object" && result !== null) new Promise((resolve) => resolve(result)).catch(() => {});
    } catch {
      // A logger that fails must not end a call.
    }
  };
  return {
    debug: guardedMethod("debug"),
    info: guardedMethod("info"),
    warn: guardedMethod("warn"),
    error: guardedMethod("error"),
  };
}

/**
 * The clock of an embedding program. A clock that throws, or whose time is not a number, keeps its latest time; timers
 * and random bytes that it fails to provide come from the real system. Allocates nothing but timers.
 */
export function guardedSystem(system: System): System {
  if (system === realSystem) return system;
  return {
    now: latestTime(() => system.now(), realSystem.now()),
    monotonic: latestTime(() => system.monotonic(), 0),
    random(bytes) {
      try {
        system.random(bytes);
      } catch {
        realSystem.random(bytes);
      }
    },
    after(ms, run) {
      let cancel: unknown;
      try {
        cancel = system.after(ms, run);
      } catch {
        return realSystem.after(ms, run);
      }
      return () => {
        try {
          if (typeof cancel === "function") cancel();
        } catch {
          // The timer may still fire; its callback checks again.
        }
      };
    },
  };
}

/** A clock that repeats its latest time if it fails. */
function latestTime(read: () => number, start: number): () => number {
  let time = start;
  return () => {
    try {
      const now = read();
      if (Number.isFinite(now)) time = now;
    } catch {
      // Keep the latest time.
    }
    return time;
  };
}
