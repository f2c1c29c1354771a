/**
 * A member of an object by an untrusted name; undefined for names that every object inherits, such as `constructor`.
 */
export function ownMember<T extends object>(object: T, name: string): T[keyof T] | undefined {
  return Object.hasOwn(object, name) ? object[name as keyof T] : undefined;
}
