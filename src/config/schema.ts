import { isIP } from 'node:net';
import { z } from 'zod';
import { isSeen } from '../unseen.ts';
import { secondsOf } from './duration.ts';

/** The metadata of a setting besides its type. */
export interface SettingMeta {
  /** One line, for the example file, the manual page and `--help`. */
  help: string;
  /** Never printed. May come from a file named by `…_FILE`, or from a systemd credential. */
  secret?: true;
  /** A file. In `idctl.yaml`, a relative path is relative to that file. */
  path?: true;
}

const setting = z.registry<SettingMeta>();

const hostPort = z.string().refine(isHostPort, 'must be HOST:PORT, such as 127.0.0.1:8420');
const origin = z
  .string()
  .refine(isOrigin, {
    error: 'must be an origin such as https://id.example.com, without a path',
    abort: true,
  })
  .overwrite((text) => new URL(text).origin);
const shownName = z.string().min(1).max(100).refine(isSeen, 'must not hold control characters');
const spellings = new Map([
  ['true', 'on'],
  ['false', 'off'],
]);
const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  z.enum(words, `must be one of ${words.join(', ')}`);
const onOff = z.preprocess(
  (given) => spellings.get(String(given)) ?? given,
  z.enum(['on', 'off'], 'must be on or off'),
);
const duration = z
  .string()
  .refine(
    (text) => isDuration(text),
    'must be a time such as 90s, 30m, 24h or 7d, at least 60s and at most 365d',
  );
const days = z
  .string()
  .refine(
    (text) => isDuration(text, '3650d'),
    'must be a time such as 24h or 400d, at least 60s and at most 3650d',
  );
const cidr = z.string().refine(isCidr, 'must be an address or a range such as 10.0.0.0/8');
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });
const smtpUrl = z.url({
  protocol: /^smtps?$/,
  error: 'must be an smtp:// or smtps:// URL, such as smtp://USER@HOST:PORT',
});
/** The address of a database. */
export const databaseUrl = z
  .string()
  .regex(
    /^(sqlite:(?!\/\/[^/]|:memory:).+|postgres(ql)?:\/\/.+)$/,
    'must be sqlite:/path/to/file or postgres://user:password@host/database',
  );

const help = <T extends z.ZodType>(
  schema: T,
  text: string,
  more: Omit<SettingMeta, 'help'> = {},
): T => {
  setting.add(schema, { help: text, ...more });
  return schema;
};

const allSettings = z.strictObject({
  listen: help(hostPort.default('127.0.0.1:8420'), 'Address and port of the daemon'),
  baseUrl: help(
    origin.optional(),
    'Where people reach idctl; default: http:// and the listen address',
  ),
  instance: z
    .strictObject({
      name: help(shownName.default('idctl'), 'Name that people see'),
      logo: help(z.string().min(1).optional(), 'Logo of the sign-in screen, an SVG or PNG file', {
        path: true,
      }),
    })
    .prefault({}),
  database: z
    .strictObject({
      url: help(databaseUrl.optional(), 'sqlite:FILE or postgres://…; default: idctl.db', {
        secret: true,
        path: true,
      }),
      sqliteDriver: help(
        oneOf('node', 'sqlite3').default('node'),
        'Driver for sqlite: node (built in) or sqlite3',
      ),
    })
    .prefault({}),
  keyFile: help(
    z.string().min(1).optional(),
    'File of the master key that opens stored secrets; default: master.key',
    { path: true },
  ),
  doh: z
    .strictObject({
      resolverUrl: help(
        webUrl.default('https://dns.quad9.net/dns-query'),
        'DNS-over-HTTPS resolver that proves domains',
      ),
      caFile: help(
        z.string().min(1).optional(),
        'Certificate authority of the resolver, a PEM file',
        {
          path: true,
        },
      ),
    })
    .prefault({}),
  trust: z
    .strictObject({
      domains: help(
        oneOf('enforce', 'off').default('enforce'),
        'off: single sign-on without a verified domain',
      ),
    })
    .prefault({}),
  mail: z
    .strictObject({
      smtpUrl: help(
        smtpUrl.optional(),
        'SMTP server for outgoing mail; without one, no mail is sent',
        {
          secret: true,
        },
      ),
      caFile: help(
        z.string().min(1).optional(),
        'Certificate authority of the mail server, a PEM file',
        {
          path: true,
        },
      ),
      from: help(
        z.string().min(3).optional(),
        'Sender of mail; default: idctl@ and the host of the base URL',
      ),
    })
    .prefault({}),
  social: z
    .strictObject({
      google: z
        .strictObject({
          ...socialClient('Google'),
          issuer: help(webUrl.default('https://accounts.google.com'), 'Issuer of the ID tokens'),
        })
        .prefault({}),
      github: z
        .strictObject({
          ...socialClient('GitHub'),
          baseUrl: help(webUrl.default('https://github.com'), 'GitHub, or an Enterprise Server'),
        })
        .prefault({}),
    })
    .prefault({}),
  http: z
    .strictObject({
      trustedProxies: help(
        z.array(cidr).default([]),
        'Proxies whose X-Forwarded-* headers are believed',
      ),
      returnToOrigins: help(z.array(origin).default([]), 'Origins a sign-in may return to'),
      corsOrigins: help(z.array(origin).default([]), 'Origins whose scripts may call the API'),
    })
    .prefault({}),
  outbound: z
    .strictObject({
      allow: help(
        z.array(z.string().min(1)).default([]),
        'Private hosts, HOST:PORT and ranges that connections may reach',
      ),
      caFile: help(
        z.string().min(1).optional(),
        'Certificate authority for those hosts, a PEM file',
        {
          path: true,
        },
      ),
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
  limits: z
    .strictObject({
      enabled: help(onOff.default('on'), 'off: refused credentials are not limited'),
      accountFailures: help(
        z.int().min(1).max(1_000_000).default(10),
        'Wrong passwords for one account in 15 minutes; then it waits, longer each time',
      ),
      addressFailures: help(
        z.int().min(1).max(1_000_000).default(30),
        'Refused sign-ins from one client address in a minute',
      ),
      ldapFailures: help(
        z.int().min(1).max(1_000_000).default(5),
        'Refused LDAP sign-ins of one user name in 15 minutes',
      ),
      codeSends: help(
        z.int().min(1).max(1_000_000).default(5),
        'Codes mailed to one mailbox in an hour',
      ),
      tokenRequests: help(
        z.int().min(1).max(1_000_000).default(60),
        'Tokens that one app gets, and wrong client secrets of one address, in a minute',
      ),
    })
    .prefault({}),
  signin: z
    .strictObject({
      password: help(
        onOff.default('on'),
        'Sign-in with e-mail and password where no organization decides',
      ),
      magicCode: help(
        onOff.default('off'),
        'Sign-in with a code by mail where no organization decides',
      ),
      google: help(onOff.default('on'), 'Sign-in with Google where no organization decides'),
      github: help(onOff.default('on'), 'Sign-in with GitHub where no organization decides'),
      allowSelfSignup: help(
        onOff.default('off'),
        'Sign-up without an invitation where no organization decides',
      ),
      restrictOauthToVerifiedDomains: help(
        onOff.default('off'),
        'Google and GitHub for addresses on verified domains only',
      ),
    })
    .prefault({}),
  orgs: z
    .strictObject({
      creation: help(
        oneOf('operator', 'anyone').default('operator'),
        'Who may create organizations',
      ),
    })
    .prefault({}),
  signup: z
    .strictObject({
      open: help(
        onOff.default('off'),
        'on: anybody may sign up, but for addresses on verified domains',
      ),
    })
    .prefault({}),
  tokens: z
    .strictObject({
      manageCredentials: help(
        onOff.default('off'),
        'on: a token may change password, second factor, tokens and apps too',
      ),
    })
    .prefault({}),
  oauth: z
    .strictObject({
      botTokenTtl: help(
        duration.default('24h'),
        'How long the token of an app lives, at most 365d',
      ),
    })
    .prefault({}),
  events: z
    .strictObject({
      retention: help(days.default('400d'), 'How long events are kept, at most 3650d'),
    })
    .prefault({}),
  scim: z
    .strictObject({
      deleteMode: help(
        oneOf('deactivate', 'remove').default('deactivate'),
        'What a SCIM DELETE leaves: a User who is not active, or none to be seen',
      ),
    })
    .prefault({}),
  ldap: z
    .strictObject({
      allowPlaintext: help(
        onOff.default('off'),
        'on: connections to directories may go without TLS',
      ),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: help(
        oneOf('fatal', 'error', 'warn', 'info', 'debug').default('info'),
        'Least severe line logged',
      ),
      format: help(
        oneOf('auto', 'json', 'text').default('auto'),
        'Lines for people (text), JSON, or auto: text on a terminal, JSON elsewhere',
      ),
    })
    .prefault({}),
  metrics: z
    .strictObject({
      listen: help(
        hostPort.optional(),
        'Address and port of the Prometheus metrics; without one, none',
      ),
    })
    .prefault({}),
});

/** Every setting: its name, type, default and help. Unknown keys are refused. */
export const configSchema = allSettings.refine(
  (given) => given.trust.domains === 'enforce' || given.orgs.creation === 'operator',
  {
    path: ['trust', 'domains'],
    error: 'can be off only while orgs.creation is operator: others could claim any address',
  },
);

/**
 * The checked settings with defaults filled in. Settings that depend on where idctl runs may be
 * absent.
 */
export type Settings = z.output<typeof configSchema>;

/** The settings with paths and base URL resolved, as the rest of idctl reads them. */
export interface Config extends Settings {
  baseUrl: string;
  /** True if no base URL is set: then it is the daemon's listen address. */
  baseUrlUnset?: true;
  keyFile: string;
  database: Settings['database'] & { url: string };
}

/** The metadata of a setting's schema; undefined for a section. */
export function metaOf(schema: z.ZodType): SettingMeta | undefined {
  return setting.get(schema);
}

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

/**
 * The instance's client at a social provider. The provider is offered only if both values are set
 * (spec §1).
 */
function socialClient(name: string) {
  return {
    clientId: help(z.string().min(1).optional(), `Client id of the app registered at ${name}`),
    clientSecret: help(
      z.string().min(1).optional(),
      `Client secret of the app registered at ${name}`,
      {
        secret: true,
      },
    ),
  };
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}
