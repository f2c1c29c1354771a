import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/**
 * A modal dialog: the browser keeps the focus inside, and returns it when the dialog closes. The dialog is open while
 * it is rendered.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  /** Called when the user closes the dialog, including with Escape. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = useRef(false);
  useEffect(() => {
    const element = dialog.current;
    const focusedElement = document.activeElement;
    element?.showModal();
    isOpen.current = true;
    return () => {
      isOpen.current = false;
      element?.close();
      if (focusedElement instanceof HTMLElement) focusedElement.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Chromium closes the dialog on a second Escape, even if the first one was prevented.
      onClose={({ currentTarget }) => {
        if (isOpen.current && !currentTarget.open) currentTarget.showModal();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
