import { FilterParser } from 'ldapts';

const placeholder = '{username}';

/** Why a search filter is invalid, or null. It must compare with `{username}` (security L3). */
export function faultOfFilter(filter: string): string | null {
  if (!filter.includes(placeholder)) return `must contain ${placeholder}`;
  if (/(^|\()[^(=]*\{username\}/.test(filter))
    return `must have ${placeholder} after an equals sign`;
  // The library would read each escaped byte as one character.
  if (/\\[89a-f][0-9a-f]/i.test(filter))
    return 'must have characters outside ASCII as they are, not escaped';
  // The library would add a missing parenthesis at the end, and search for something else.
  if (count(filter, '(') !== count(filter, ')'))
    return 'must have as many closing as opening parentheses';
  try {
    FilterParser.parseString(fillFilter(filter, '*'));
    return null;
  } catch {
    return `must be a filter (RFC 4515) such as (uid=${placeholder})`;
  }
}

function count(text: string, sign: string): number {
  return text.split(sign).length - 1;
}

/** Puts the user name into the filter, only as a value (RFC 4515 §3, security L3). */
export function fillFilter(filter: string, username: string): string {
  const escaped = username.replace(/[\\*()\0]/g, (one) => `\\${Buffer.from(one).toString('hex')}`);
  return filter.replaceAll(placeholder, () => escaped);
}

/** The filter for every user name: the placeholder becomes `*`. */
export function openFilter(filter: string): string {
  return filter.replaceAll(placeholder, '*').replace(/\*+/g, '*');
}
