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
    'URL of idctl for browsers; default: http:// and the listen address',
  ),
  instance: settingGroup({
    name: help(shownName.default('idctl'), 'Name of this instance that people see'),
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
  keyFile: file('File with the master key for stored secrets; default: master.key'),
  doh: settingGroup({
    resolverUrl: help(
      webUrl.default('https://dns.quad9.net/dns-query'),
      'DNS-over-HTTPS resolver used to verify domains',
    ),
    caFile: file('Certificate authority of the resolver, a PEM file'),
  }),
  trust: settingGroup({
    domains: help(
      oneOf('enforce', 'off').default('enforce'),
      'off: single sign-on and directories do not need a verified domain',
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
    notices: help(
      onOff.default('on'),
      'off: no mail about changes of accounts and sign-ins from new browsers',
    ),
  }),
  social: settingGroup({
    google: settingGroup({
      ...socialClient('Google'),
      issuer: help(webUrl.default('https://accounts.google.com'), 'Issuer of the ID tokens'),
    }),
    github: settingGroup({
      ...socialClient('GitHub'),
      baseUrl: help(
        webUrl.default('https://github.com'),
        'URL of GitHub, or of an Enterprise Server',
      ),
    }),
  }),
  http: settingGroup({
    trustedProxies: help(
      z.array(cidr).default([]),
      'Proxies whose X-Forwarded-* headers are trusted',
    ),
    returnToOrigins: help(z.array(origin).default([]), 'Origins that a sign-in may return to'),
    corsOrigins: help(z.array(origin).default([]), 'Origins whose scripts may call the API'),
  }),
  outbound: settingGroup({
    allow: help(
      z.array(someText).default([]),
      'Private hosts, HOST:PORT and ranges that idctl may connect to',
    ),
    caFile: file('Certificate authority of providers, directories and webhooks, a PEM file'),
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
    enabled: help(onOff.default('on'), 'off: no rate limits for sign-ins, mail and tokens'),
    accountFailures: help(
      limit(10),
      'Wrong passwords for an account in 15 minutes, then lockouts of growing length',
    ),
    addressFailures: help(
      limit(30),
      'Refused sign-ins, or requested mails, from one IP address in a minute',
    ),
    ldapFailures: help(limit(5), 'Refused LDAP sign-ins with one user name in 15 minutes'),
    codeSends: help(limit(5), 'Codes mailed to one e-mail address in an hour'),
    tokenRequests: help(
      limit(60),
      'Tokens for an app or a session, or wrong secrets from an IP address, in a minute',
    ),
  }),
  signin: settingGroup({
    password: help(
      onOff.default('on'),
      'Sign-in with e-mail and password; organizations can change it',
    ),
    passkey: help(
      onOff.optional(),
      'Sign-in with a passkey; default: as password; organizations can change it',
    ),
    magicCode: help(
      onOff.default('off'),
      'Sign-in with a mailed code; organizations can change it',
    ),
    google: help(onOff.default('on'), 'Sign-in with Google; organizations can change it'),
    github: help(onOff.default('on'), 'Sign-in with GitHub; organizations can change it'),
    allowSelfSignup: help(
      onOff.default('off'),
      'Sign-up without an invitation; organizations can change it',
    ),
    restrictOauthToVerifiedDomains: help(
      onOff.default('off'),
      'on: Google and GitHub only on verified domains; organizations can change it',
    ),
  }),
  orgs: settingGroup({
    creation: help(
      oneOf('operator', 'anyone').default('operator'),
      'anyone: every signed-in person can create organizations, not only the operator',
    ),
  }),
  signup: settingGroup({
    open: help(
      onOff.default('off'),
      'on: anyone can sign up; on a verified domain, its organization decides',
    ),
  }),
  tokens: settingGroup({
    manageCredentials: help(
      onOff.default('off'),
      'on: tokens may also change the password, second factor, tokens and apps',
    ),
  }),
  oauth: settingGroup({
    botTokenTtl: help(duration.default('24h'), 'Lifetime of the bot tokens of apps, at most 365d'),
  }),
  events: settingGroup({
    retention: help(days.default('400d'), 'Time after which events are deleted, at most 3650d'),
  }),
  scim: settingGroup({
    deleteMode: help(
      oneOf('deactivate', 'remove').default('deactivate'),
      'Effect of a SCIM DELETE: deactivate the User, or also hide the User from SCIM',
    ),
  }),
  ldap: settingGroup({
    allowPlaintext: help(onOff.default('off'), 'on: connections to directories do not need TLS'),
  }),
  log: settingGroup({
    level: help(
      oneOf('fatal', 'error', 'warn', 'info', 'debug').default('info'),
      'Lowest level that is logged',
    ),
    format: help(
      oneOf('auto', 'json', 'text').default('auto'),
      'Log format: text, json, or auto (text on a terminal, json otherwise)',
    ),
  }),
  metrics: settingGroup({
    listen: help(
      hostPort.optional(),
      'Address and port of the Prometheus metrics; if absent, there are none',
    ),
  }),
});

/** All settings with types, defaults and help texts. Refuses unknown keys. */
export const configSchema = allSettings.refine(
  (given) => given.trust.domains === 'enforce' || given.orgs.creation === 'operator',
  {
    path: ['trust', 'domains'],
    error: 'can be off only if orgs.creation is operator: otherwise anyone could claim any address',
  },
);

/** The checked settings with defaults. Settings without a fixed default may be absent. */
export type Settings = z.output<typeof configSchema>;

/** The settings that the rest of idctl reads. Paths and base URL are resolved. */
export interface Config extends Settings {
  baseUrl: string;
  /** Whether no base URL is set, so that `baseUrl` is the listen address. */
  baseUrlUnset?: true;
  keyFile: string;
  database: Settings['database'] & { url: string };
}

/** The settings of a client at a social provider. idctl offers the provider if both are set. */
function socialClient(name: string) {
  return {
    clientId: help(someText.optional(), `Client id of the app registered at ${name}`),
    clientSecret: help(someText.optional(), `Client secret of the app registered at ${name}`, {
      secret: true,
    }),
  };
}
