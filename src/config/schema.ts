import { isIP } from 'node:net';
import { z } from 'zod';

/** What a setting carries beside its type: its line of help, and whether its value is a secret. */
interface SettingMeta {
  help: string;
  /** Never printed; may come from a file named by `…_FILE`. */
  secret?: true;
}

const setting = z.registry<SettingMeta>();

const hostPort = z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^\s:]+):\d{1,5}$/, 'must be HOST:PORT');
const origin = z
  .string()
  .refine(isOrigin, 'must be an origin such as https://id.example.com, without a path');
const cidr = z.string().refine(isCidr, 'must be an address or a range such as 10.0.0.0/8');
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });
const databaseUrl = z
  .string()
  .regex(
    /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
    'must be sqlite:/path/to/file or postgres://user:password@host/database',
  );

const help = <T extends z.ZodType>(schema: T, text: string, secret = false): T => {
  setting.add(schema, secret ? { help: text, secret: true } : { help: text });
  return schema;
};

/** Every setting: its name, type, default and help. Unknown keys are refused. */
export const configSchema = z.strictObject({
  listen: help(hostPort.default('127.0.0.1:8420'), 'Address and port of the daemon'),
  baseUrl: help(origin.optional(), 'Where people reach idctl; default: http:// and the listen address'),
  instance: z
    .strictObject({ name: help(z.string().min(1).max(100).default('idctl'), 'Name that people see') })
    .prefault({}),
  database: z
    .strictObject({
      url: help(databaseUrl.optional(), 'sqlite:FILE or postgres://…; default: a file beside the key', true),
      sqliteDriver: help(
        z.enum(['node', 'sqlite3']).default('node'),
        'Driver for sqlite: node (built in) or sqlite3',
      ),
    })
    .prefault({}),
  keyFile: help(z.string().min(1).optional(), 'The master key that opens stored secrets'),
  doh: z
    .strictObject({
      resolverUrl: help(
        webUrl.default('https://dns.quad9.net/dns-query'),
        'DNS-over-HTTPS resolver that proves domains',
      ),
      caFile: help(z.string().optional(), 'Certificate authority of the resolver, PEM'),
    })
    .prefault({}),
  trust: z
    .strictObject({
      domains: help(
        z.enum(['enforce', 'off']).default('enforce'),
        'off: single sign-on without a verified domain',
      ),
    })
    .prefault({}),
  http: z
    .strictObject({
      trustedProxies: help(z.array(cidr).default([]), 'Proxies whose X-Forwarded-* headers are believed'),
      returnToOrigins: help(z.array(origin).default([]), 'Origins a sign-in may return to'),
      corsOrigins: help(z.array(origin).default([]), 'Origins whose scripts may call the API'),
    })
    .prefault({}),
  outbound: z
    .strictObject({
      allow: help(
        z.array(z.string().min(1)).default([]),
        'Private hosts and ranges that connections may reach',
      ),
      caFile: help(z.string().optional(), 'Certificate authority for those hosts, PEM'),
    })
    .prefault({}),
  password: z
    .strictObject({
      argon2: z
        .strictObject({
          memory: help(z.int().min(19456).max(1_048_576).default(19456), 'argon2id memory in KiB'),
          time: help(z.int().min(2).max(16).default(2), 'argon2id passes'),
          lanes: help(z.int().min(1).max(16).default(1), 'argon2id lanes'),
        })
        .prefault({}),
      minLength: help(z.int().min(8).max(128).default(8), 'Shortest password accepted'),
    })
    .prefault({}),
  orgs: z
    .strictObject({
      creation: help(z.enum(['operator', 'anyone']).default('operator'), 'Who may create organizations'),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: help(
        z.enum(['fatal', 'error', 'warn', 'info', 'debug']).default('info'),
        'Least severe line logged',
      ),
    })
    .prefault({}),
});

/** The settings as checked, defaults filled in; what depends on where idctl runs may still be absent. */
export type Settings = z.output<typeof configSchema>;

/** The settings with the paths and the base URL resolved: what the rest of idctl reads. */
export interface Config extends Settings {
  baseUrl: string;
  keyFile: string;
  database: Settings['database'] & { url: string };
}

/** The help line and secrecy of one setting's schema. */
export function metaOf(schema: z.ZodType): SettingMeta | undefined {
  return setting.get(schema);
}

function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '');
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
