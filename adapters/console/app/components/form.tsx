import type { ComponentChildren } from "preact";
import type { Action } from "../shell/use-action.ts";
import { Button } from "./button.tsx";
import { FaultNotice } from "./waiting.tsx";

/** A form: Enter submits it, and errors appear below its fields. The browser validates the fields first. */
export function Form({
  action,
  children,
  buttons,
}: {
  readonly action: Pick<Action<[]>, "busy" | "fault" | "start">;
  readonly children: ComponentChildren;
  /** The buttons, or the label of a single wide button. */
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
      <div class="row">
        {typeof buttons === "string" ? (
          <Button wide busy={action.busy}>
            {buttons}
          </Button>
        ) : (
          buttons
        )}
      </div>
    </form>
  );
}
