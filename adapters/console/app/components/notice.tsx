import type { ComponentChildren } from "preact";

/** A message within a view. A fault interrupts a screen reader; other messages wait. */
export function Notice({
  tone = "info",
  children,
}: {
  readonly tone?: "info" | "good" | "warn" | "bad" | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`notice${tone === "info" ? "" : ` notice-${tone}`}`} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}
