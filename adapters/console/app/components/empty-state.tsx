import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** Shown in place of an empty list: its purpose, and how to get the first item. */
export function EmptyState({
  icon,
  title,
  action,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={24} />
      </span>
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  );
}
