import { resolve } from 'node:path';
import { Refusal } from '../errors.ts';
import type { Setting } from './setting-list.ts';

/** The source of a configuration value. */
export type SettingOrigin = 'default' | 'file' | 'environment' | 'option';

/** One configured value. */
export interface Given {
  value: unknown;
  origin: Exclude<SettingOrigin, 'default'>;
  /** The name for messages: `idctl.yaml line 3: doh.resolverUrl`, or the variable. */
  where: string;
}

/** The value, with a relative file path resolved against the folder it was written for. */
export function absolute(setting: Setting, value: unknown, folder: string): unknown {
  if (!setting.path || typeof value !== 'string' || value === '') return value;
  if (!setting.key.startsWith('database.')) return resolve(folder, value);
  const file = /^sqlite:(?!\/\/[^/]|:memory:)(.+)$/.exec(value)?.[1];
  return file === undefined ? value : `sqlite:${resolve(folder, file)}`;
}

/** Refuses all errors of a configuration at once. A single error keeps its own hint. */
export function refuseAll(errors: Refusal[]): void {
  const [first, ...more] = errors;
  if (first === undefined) return;
  if (more.length === 0) throw first;
  const faults = errors.map(({ message, hint, faults: [fault] }) => {
    return {
      path: fault?.path ?? '',
      message: hint === undefined ? message : `${message}; ${hint}`,
    };
  });
  throw new Refusal('config_invalid', errors.map(({ message }) => message).join('; '), { faults });
}

/** The refusal of an unknown setting name, with the nearest known name. */
export function refuseUnknown(where: string, name: string, known: string[]): Refusal {
  const near = nearest(name, known);
  return new Refusal('config_invalid', `${where} is not a setting`, {
    hint: near === null ? 'all settings are in: man idctl.yaml' : `did you mean ${near}?`,
  });
}

function nearest(name: string, known: string[]): string | null {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9.]/g, '');
  const ranked = known
    .map((candidate) => {
      const last = candidate.slice(candidate.lastIndexOf('.') + 1);
      const whole = distance(plain(name), plain(candidate));
      return { candidate, far: Math.min(whole, distance(plain(name), plain(last))) };
    })
    .sort((a, b) => a.far - b.far);
  const [best] = ranked;
  return best !== undefined && best.far <= Math.max(1, name.length / 4) ? best.candidate : null;
}

/** The Levenshtein distance: how many characters to insert, delete or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, sign] of [...a].entries()) {
    let before = i + 1;
    row = row.map((above, j) => {
      if (j === 0) return before;
      const replaced = (row[j - 1] ?? 0) + (sign === b[j - 1] ? 0 : 1);
      before = Math.min(above + 1, before + 1, replaced);
      return before;
    });
  }
  return row[b.length] ?? a.length;
}
