import { isIP } from 'node:net';
import { z } from 'zod';
import { parseRange } from '../text/address.ts';
import { isSeen } from '../text/unseen.ts';
import { docsFile } from '../version.ts';
import { secondsOf } from './duration.ts';

// The building blocks of settings.

/** The metadata of a setting besides its type. */
export interface SettingMeta {
  /** One line for configuration files and the manual page. */
  help: string;
  /** Never printed. May come from a file named by `…_FILE`, or from a systemd credential. */
  secret?: true;
  /**
   * The value is or contains a path. A relative path in `idctl.yaml` starts at the folder of that
   * file.
   */
  path?: true;
}

const setting = z.registry<SettingMeta>();

/** Adds the help text to a setting's schema. */
export const help = <T extends z.ZodType>(
  schema: T,
  text: string,
  more: Omit<SettingMeta, 'help'> = {},
): T => {
  setting.add(schema, { help: text, ...more });
  return schema;
};

export const someText = z.string().min(1);
/** A setting whose value is the path of a file. */
export const file = (about: string) => help(someText.optional(), about, { path: true });

/** A section of settings. It may be left out, because none of its settings is required. */
export const settingGroup = <Shape extends z.ZodRawShape>(shape: Shape) => {
  // The compiler cannot see that every field is optional. The test of the defaults parses {}.
  const nothing = {} as z.input<z.ZodObject<Shape, z.core.$strict>>;
  return z.strictObject(shape).prefault(nothing);
};

/** The metadata of a setting; undefined for a section. */
export function metaOf(schema: z.ZodType): SettingMeta | undefined {
  return setting.get(schema);
}

export const hostPort = z.string().refine(isHostPort, 'must be HOST:PORT, such as 127.0.0.1:8420');
export const origin = z
  .string()
  .refine(isOrigin, {
    error: 'must be an origin such as https://id.example.com, without a path',
    abort: true,
  })
  .overwrite((text) => new URL(text).origin);
export const shownName = z
  .string()
  .min(1)
  .max(100)
  .refine(isSeen, 'must not contain control characters or other invisible characters');
const spellings = new Map([
  ['true', 'on'],
  ['false', 'off'],
]);
export const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  z.enum(words, `must be one of ${words.join(', ')}`);
export const onOff = z.preprocess(
  (given) => spellings.get(String(given)) ?? given,
  z.enum(['on', 'off'], 'must be on or off'),
);
export const duration = z
  .string()
  .refine(
    (text) => isDuration(text),
    'must be a time such as 90s, 30m, 24h or 7d, at least 60s and at most 365d',
  );
export const days = z
  .string()
  .refine(
    (text) => isDuration(text, '3650d'),
    'must be a time such as 24h or 400d, at least 60s and at most 3650d',
  );
export const cidr = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || parseRange(text.replace(/%[^/]+/, '')) !== null,
    'must be an address or a range such as 10.0.0.0/8',
  );
export const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });
export const smtpUrl = z.url({
  protocol: /^smtps?$/,
  hostname: /./,
  error: 'must be an smtp:// or smtps:// URL, such as smtp://USER@HOST:PORT',
});
export const databaseUrl = z
  .string()
  .regex(
    /^(sqlite:(?!\/\/[^/]|:memory:).+|postgres(ql)?:\/\/.+)$/,
    'must be sqlite:/path/to/file or postgres://user:password@host/database',
  )
  .refine(
    (url) =>
      !/^postgres[^/]*:\/\/(?:[^/?]*@|(?![^/?]*@))[^/?@]*,|[?&]host=[^&]*(?:,|%2c)/i.test(url),
    {
      error: () =>
        `must name only one host. For several servers, use HAProxy, as ${docsFile('operations/high-availability.md')} shows`,
    },
  );

/** A rate limit: the maximum number of attempts in a time window. */
export const limit = (usual: number) => z.int().min(1).max(1_000_000).default(usual);

function isHostPort(text: string): boolean {
  const port = /^(?:\[[0-9a-fA-F:]+\]|[^\s:[\]/]+):(\d{1,5})$/.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65535;
}

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password, pathname, search, hash } = new URL(text);
  return username + password + search + hash === '' && pathname === '/';
}

function isDuration(text: string, longest = '365d'): boolean {
  const seconds = secondsOf(text);
  return seconds >= 60 && seconds <= secondsOf(longest);
}
