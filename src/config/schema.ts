import { z } from 'zod';
import {
  cidr,
  databaseUrl,
  days,
  duration,
  file,
  help,
  hostPort,
  limit,
  oneOf,
  onOff,
  origin,
  settingGroup,
  shownName,
  smtpUrl,
  someText,
  webUrl,
} from './values.ts';

const allSettings = z.strictObject({
  listen: help(hostPort.default('127.0.0.1:8420'), 'Address and port of the daemon'),
  baseUrl: help(
    origin.optional(),
    'Where people reach idctl; default: http:// and the listen address',
  ),
  instance: settingGroup({
    name: help(shownName.default('idctl'), 'Name that people see'),
    logo: file('Logo of the sign-in screen, an SVG or PNG file'),
  }),
  database: settingGroup({
    url: help(databaseUrl.optional(), 'sqlite:FILE or postgres://…; default: idctl.db', {
      secret: true,
      path: true,
    }),
    sqliteDriver: help(
      oneOf('node', 'sqlite3').default('node'),
      'Driver for sqlite: node (built in) or sqlite3',
    ),
  }),
  keyFile: file('File of the master key that opens stored secrets; default: master.key'),
  doh: settingGroup({
    resolverUrl: help(
      webUrl.default('https://dns.quad9.net/dns-query'),
      'DNS-over-HTTPS resolver that proves domains',
    ),
    caFile: file('Certificate authority of the resolver, a PEM file'),
  }),
  trust: settingGroup({
    domains: help(
      oneOf('enforce', 'off').default('enforce'),
      'off: single sign-on without a verified domain',
    ),
  }),
  mail: settingGroup({
    smtpUrl: help(
      smtpUrl.optional(),
      'SMTP server for outgoing mail; without one, no mail is sent',
      { secret: true },
    ),
    caFile: file('Certificate authority of the mail server, a PEM file'),
    from: help(
      z.string().min(3).optional(),
      'Sender of mail; default: idctl@ and the host of the base URL',
    ),
  }),
  social: settingGroup({
    google: settingGroup({
      ...socialClient('Google'),
      issuer: help(webUrl.default('https://accounts.google.com'), 'Issuer of the ID tokens'),
    }),
    github: settingGroup({
      ...socialClient('GitHub'),
      baseUrl: help(webUrl.default('https://github.com'), 'GitHub, or an Enterprise Server'),
    }),
  }),
  http: settingGroup({
    trustedProxies: help(
      z.array(cidr).default([]),
      'Proxies whose X-Forwarded-* headers are trusted',
    ),
    returnToOrigins: help(z.array(origin).default([]), 'Origins a sign-in may return to'),
    corsOrigins: help(z.array(origin).default([]), 'Origins whose scripts may call the API'),
  }),
  outbound: settingGroup({
    allow: help(
      z.array(someText).default([]),
      'Private hosts, HOST:PORT and ranges that connections may reach',
    ),
    caFile: file('Certificate authority for those hosts, a PEM file'),
  }),
  password: settingGroup({
    argon2: settingGroup({
      memory: help(z.int().min(19456).max(1_048_576).default(19456), 'argon2id memory in KiB'),
      time: help(z.int().min(2).max(16).default(2), 'argon2id passes'),
      lanes: help(z.int().min(1).max(16).default(1), 'argon2id lanes'),
    }),
    minLength: help(z.int().min(8).max(128).default(8), 'Shortest password accepted'),
  }),
  limits: settingGroup({
    enabled: help(onOff.default('on'), 'off: refused credentials are not limited'),
    accountFailures: help(
      limit(10),
      'Wrong passwords for one account in 15 minutes; then it waits, longer each time',
    ),
    addressFailures: help(limit(30), 'Refused sign-ins from one client address in a minute'),
    ldapFailures: help(limit(5), 'Refused LDAP sign-ins of one user name in 15 minutes'),
    codeSends: help(limit(5), 'Codes mailed to one mailbox in an hour'),
    tokenRequests: help(
      limit(60),
      'Tokens for one app or sign-in, wrong secrets of one address, in a minute',
    ),
  }),
  signin: settingGroup({
    password: help(
      onOff.default('on'),
      'Sign-in with e-mail and password unless an organization sets it',
    ),
    passkey: help(
      onOff.optional(),
      'Sign-in with a passkey unless an organization sets it (default: as password)',
    ),
    magicCode: help(
      onOff.default('off'),
      'Sign-in with a code by mail unless an organization sets it',
    ),
    google: help(onOff.default('on'), 'Sign-in with Google unless an organization sets it'),
    github: help(onOff.default('on'), 'Sign-in with GitHub unless an organization sets it'),
    allowSelfSignup: help(
      onOff.default('off'),
      'Sign-up without an invitation unless an organization sets it',
    ),
    restrictOauthToVerifiedDomains: help(
      onOff.default('off'),
      'Google and GitHub for addresses on verified domains only',
    ),
  }),
  orgs: settingGroup({
    creation: help(oneOf('operator', 'anyone').default('operator'), 'Who may create organizations'),
  }),
  signup: settingGroup({
    open: help(
      onOff.default('off'),
      'on: anyone can sign up, except with addresses on verified domains',
    ),
  }),
  tokens: settingGroup({
    manageCredentials: help(
      onOff.default('off'),
      'on: a token may change password, second factor, tokens and apps too',
    ),
  }),
  oauth: settingGroup({
    botTokenTtl: help(duration.default('24h'), 'How long the token of an app lives, at most 365d'),
  }),
  events: settingGroup({
    retention: help(days.default('400d'), 'How long events are kept, at most 3650d'),
  }),
  scim: settingGroup({
    deleteMode: help(
      oneOf('deactivate', 'remove').default('deactivate'),
      'Effect of a SCIM DELETE: deactivate the User, or remove it for SCIM too',
    ),
  }),
  ldap: settingGroup({
    allowPlaintext: help(onOff.default('off'), 'on: connections to directories may go without TLS'),
  }),
  log: settingGroup({
    level: help(
      oneOf('fatal', 'error', 'warn', 'info', 'debug').default('info'),
      'Least severe line logged',
    ),
    format: help(
      oneOf('auto', 'json', 'text').default('auto'),
      'Lines for people (text), JSON, or auto: text on a terminal, JSON elsewhere',
    ),
  }),
  metrics: settingGroup({
    listen: help(
      hostPort.optional(),
      'Address and port of the Prometheus metrics; without one, none',
    ),
  }),
});

/** Every setting: its name, type, default and help. Unknown keys are refused. */
export const configSchema = allSettings.refine(
  (given) => given.trust.domains === 'enforce' || given.orgs.creation === 'operator',
  {
    path: ['trust', 'domains'],
    error: 'can be off only while orgs.creation is operator: others could claim any address',
  },
);

/** The checked settings with defaults. Those that depend on where idctl runs may be absent. */
export type Settings = z.output<typeof configSchema>;

/** The settings with paths and base URL resolved, as the rest of idctl reads them. */
export interface Config extends Settings {
  baseUrl: string;
  /** True if no base URL is set: then it is the daemon's listen address. */
  baseUrlUnset?: true;
  keyFile: string;
  database: Settings['database'] & { url: string };
}

/** The client at a social provider, which is offered only if both are set (spec §1). */
function socialClient(name: string) {
  return {
    clientId: help(someText.optional(), `Client id of the app registered at ${name}`),
    clientSecret: help(someText.optional(), `Client secret of the app registered at ${name}`, {
      secret: true,
    }),
  };
}
