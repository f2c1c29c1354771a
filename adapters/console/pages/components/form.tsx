import type { ComponentChildren } from "preact";
import type { Action } from "../shell/use-action.ts";
import { FaultNotice } from "./waiting.tsx";

/** A form: Enter submits it, and errors appear below its fields. The browser validates the fields first. */
export function Form({
  action,
  children,
  buttons,
}: {
  readonly action: Pick<Action<[]>, "fault" | "start">;
  readonly children: ComponentChildren;
  readonly buttons: ComponentChildren;
}) {
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        action.start();
      }}
    >
      {children}
      {action.fault !== undefined && <FaultNotice error={action.fault} />}
      <div class="row">{buttons}</div>
    </form>
  );
}
