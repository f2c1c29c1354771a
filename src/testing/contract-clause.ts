import type { ContractRunner } from "./contract-runner.ts";

const TEST_TIMEOUT_MS = 60_000;

/** Something that is closed after its test. */
interface Closable {
  close(): Promise<void>;
}

/** Registers one sentence of a contract with the test that shows it. */
type Clause<Subject> = (title: string, body: (subject: Subject) => Promise<void>) => void;

/**
 * The clauses of a contract: each gets its own adapter, which is closed after it.
 * @param factory creates the subject; called once per test
 * @param adapterOf returns the adapter of a subject, which is closed first
 */
export function clausesOf<Under extends Closable>(
  test: ContractRunner["test"],
  factory: () => Promise<Under>,
  adapterOf: (subject: Under) => Closable,
): Clause<Under> {
  return (title, body) =>
    test(
      title,
      async () => {
        const subject = await factory();
        try {
          await body(subject);
        } finally {
          await adapterOf(subject).close();
          await subject.close();
        }
      },
      TEST_TIMEOUT_MS,
    );
}
