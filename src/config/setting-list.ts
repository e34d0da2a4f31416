import { z } from 'zod';
import { configSchema } from './schema.ts';
import { metaOf } from './values.ts';

/** A setting, described for files, manual pages and messages. */
export interface Setting {
  /** The dotted name in `idctl.yaml`. */
  key: string;
  /** The environment variable. */
  env: string;
  kind: 'text' | 'integer' | 'choice' | 'list';
  /** Undefined if there is no default, or if it depends on the host or on other settings. */
  default: unknown;
  help: string;
  secret: boolean;
  path: boolean;
}

/** All settings, in the order of the schema. */
export function settings(): Setting[] {
  return walk(configSchema, '');
}

/** The value of the setting with this name, or undefined. */
export function settingIn(tree: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((node, name) => {
    return typeof node === 'object' && node !== null
      ? Object.getOwnPropertyDescriptor(node, name)?.value
      : undefined;
  }, tree);
}

/** The environment variable of a setting: `doh.resolverUrl` is `IDCTL_DOH_RESOLVER_URL`. */
function envName(key: string): string {
  return `IDCTL_${key
    .replaceAll('.', '_')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()}`;
}

function walk(schema: unknown, key: string): Setting[] {
  if (!(schema instanceof z.ZodType)) return [];
  const meta = metaOf(schema);
  if (meta !== undefined) {
    const { help, secret = false, path = false } = meta;
    return [
      {
        key,
        env: envName(key),
        kind: kindOf(schema),
        default: schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined,
        help,
        secret,
        path,
      },
    ];
  }
  const section = inner(schema);
  if (!(section instanceof z.ZodObject)) throw new TypeError(`the setting ${key} has no help text`);
  return Object.entries(section.shape).flatMap(([name, part]) =>
    walk(part, key ? `${key}.${name}` : name),
  );
}

function kindOf(schema: z.ZodType): Setting['kind'] {
  const value = inner(schema);
  if (value instanceof z.ZodArray) return 'list';
  if (value instanceof z.ZodEnum) return 'choice';
  return value instanceof z.ZodNumber ? 'integer' : 'text';
}

function inner(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return inner(schema.out);
  const wrapped =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional;
  return wrapped ? inner(schema.unwrap()) : schema;
}

// These settings are read at each request, or can be replaced while requests run.
const reloadable = /^(outbound|mail|social|limits)\.|^log\.level$/;

/** Whether a reload applies the setting. Any other setting needs a restart. */
export function isReloadable(key: string): boolean {
  return reloadable.test(key);
}
