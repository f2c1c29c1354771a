/** What the work is refused with; "no refusal" where it is done. */
export function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "no refusal",
    (error: unknown) => error,
  );
}
