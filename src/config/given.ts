import { resolve } from 'node:path';
import { Refusal } from '../errors.ts';
import { plainText } from '../next.ts';
import { nearest } from '../text/nearest.ts';
import type { Setting } from './setting-list.ts';

/** The source of a configuration value. */
export type SettingOrigin = 'default' | 'file' | 'environment' | 'option';

/** One configured value. */
export interface Given {
  value: unknown;
  origin: Exclude<SettingOrigin, 'default'>;
  /** Names the source in messages: `idctl.yaml line 3: listen`, the variable or the option. */
  where: string;
}

/** The value, with a relative path in it made absolute, starting at `folder`. */
export function absolute(setting: Setting, value: unknown, folder: string): unknown {
  if (!setting.path || typeof value !== 'string' || value === '') return value;
  if (!setting.key.startsWith('database.')) return resolve(folder, value);
  const file = /^sqlite:(?!\/\/[^/]|:memory:)(.+)$/.exec(value)?.[1];
  return file === undefined ? value : `sqlite:${resolve(folder, file)}`;
}

/** Refuses all errors of a configuration together. A single error is thrown unchanged. */
export function refuseAll(errors: Refusal[]): void {
  const [first, ...more] = errors;
  if (first === undefined) return;
  if (more.length === 0) throw first;
  const faults = errors.map(({ message, hint, faults: [fault] }) => {
    return {
      path: fault?.path ?? '',
      message: hint === undefined ? message : `${message}; ${plainText(hint)}`,
    };
  });
  throw new Refusal('config_invalid', errors.map(({ message }) => message).join('; '), { faults });
}

/** The refusal of an unknown setting. The hint suggests the nearest known name. */
export function refuseUnknown(where: string, name: string, known: string[]): Refusal {
  const near = nearest(name, known);
  return new Refusal('config_invalid', `${where} is not a setting`, {
    hint: near === null ? 'all settings are in: man idctl.yaml' : `did you mean ${near}?`,
  });
}
