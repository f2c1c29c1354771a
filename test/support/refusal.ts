/** The error of the work; "no refusal" if it succeeds. */
export function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "no refusal",
    (error: unknown) => error,
  );
}
