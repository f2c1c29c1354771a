import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps {
  readonly children: ComponentChildren;
  /** Default: looks like the main action. */
  readonly variant?: "quiet" | "plain" | "danger" | undefined;
  readonly small?: boolean | undefined;
  readonly wide?: boolean | undefined;
  readonly icon?: IconName | undefined;
  /** True while its action is running: the button stays focusable but does nothing. */
  readonly busy?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  /** Default: `button` if there is an `onClick`, otherwise `submit`. */
  readonly type?: "submit" | "button" | undefined;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  /** A name for screen readers if the text is not enough. */
  readonly label?: string | undefined;
}

export function Button({
  children,
  busy = false,
  disabled = false,
  icon,
  label,
  onClick,
  type,
  ...style
}: ButtonProps) {
  return (
    <button
      type={type ?? (onClick ? "button" : "submit")}
      class={buttonClass(style)}
      disabled={disabled}
      aria-disabled={busy}
      aria-busy={busy}
      aria-label={label}
      onClick={(event) => (busy ? event.preventDefault() : onClick?.(event))}
    >
      {icon && <Icon name={icon} size={18} />}
      {children}
    </button>
  );
}

interface MoreButtonProps extends Pick<ButtonProps, "children" | "small"> {
  /** Number of items that the list shows. */
  readonly limit: Signal<number>;
  /** Number of items that there are. */
  readonly length: number;
  /** Number of items that are added. */
  readonly step: number;
}

/** Shows more items of a list, while there are more. */
export function MoreButton({ children, small, limit, length, step }: MoreButtonProps) {
  if (length <= limit.value) return null;
  return (
    <div>
      <Button small={small} variant="quiet" onClick={() => (limit.value += step)}>
        {children}
      </Button>
    </div>
  );
}

interface LinkButtonProps extends Pick<ButtonProps, "children" | "variant" | "small" | "wide" | "icon"> {
  /** Address of the page, from `href("/calls")`. */
  readonly to: string;
  /** Opens a new tab. */
  readonly newTab?: boolean | undefined;
}

/** A link that looks like a button. */
export function LinkButton({ children, to, icon, newTab = false, ...look }: LinkButtonProps) {
  return (
    <a class={buttonClass(look)} href={to} target={newTab ? "_blank" : undefined} rel={newTab ? "noopener" : undefined}>
      {icon && <Icon name={icon} size={18} />}
      {children}
    </a>
  );
}

function buttonClass({
  variant,
  small = false,
  wide = false,
}: Pick<ButtonProps, "variant" | "small" | "wide">): string {
  return `button${variant ? ` button-${variant}` : ""}${small ? " button-small" : ""}${wide ? " button-wide" : ""}`;
}
