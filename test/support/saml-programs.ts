import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { createClient } from './http.ts';
import { freePorts } from './ports.ts';

// Real SAML providers: SimpleSAMLphp and pysaml2.

/** A person who signs in at the provider. */
export interface ProviderPerson {
  id: string;
  attributes: Record<string, string[]>;
  signs: 'assertion' | 'response' | 'both';
}

/** A running provider. */
export interface SamlProgram {
  metadataUrl: string;
  /** Opens the URL of a request as a browser does, and returns the form that it is told to post. */
  visit(authorizationUrl: string, person: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

interface Given {
  /** The metadata of idctl. */
  metadata: string;
  acsUrl: string;
  entityId: string;
  people: Record<string, ProviderPerson>;
}

async function prepare(given: Given) {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-saml-'));
  const { privateKey, certificate } = await generateCertifiedKey('provider', new Date(), 2048);
  await writeFile(join(folder, 'key.pem'), privateKey);
  await writeFile(join(folder, 'cert.pem'), certificate);
  await writeFile(join(folder, 'sp.xml'), given.metadata);
  await writeFile(join(folder, 'people.json'), JSON.stringify(given.people));
  const [port = 0] = await freePorts(1);
  return { folder, port };
}

/** Runs a program until it answers at the path. */
async function running(
  command: string[],
  { folder, at, env = {} }: { folder: string; at: string; env?: Record<string, string> },
) {
  const [program = '', ...words] = command;
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const child = spawn(program, words, { stdio: [...stdio], env: { ...process.env, ...env } });
  let said = '';
  child.stderr?.on('data', (bytes) => {
    said += bytes;
  });
  for (let tries = 0; ; tries += 1) {
    const found = await fetch(at).catch(() => null);
    if (found?.status === 200) break;
    if (tries > 300 || child.exitCode !== null) {
      child.kill('SIGTERM');
      throw new Error(`${program} does not answer at ${at} (${found?.status}): ${said}`);
    }
    await wait(100);
  }
  return async () => {
    child.kill('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  };
}

/** The hidden fields of a page. */
function fieldsIn(html: string): Record<string, string> {
  const inputs = [...html.matchAll(/<input[^>]*>/g)].map(([input]) => input);
  const of = (input: string, name: string) =>
    (new RegExp(`${name}="([^"]*)"`).exec(input)?.[1] ?? '').replaceAll('&#x3D;', '=');
  return Object.fromEntries(
    inputs.map((input) => [of(input, 'name'), of(input, 'value').replaceAll('&amp;', '&')]),
  );
}

/** Starts a provider with pysaml2. */
export async function startPysaml2(given: Given): Promise<SamlProgram> {
  const { folder, port } = await prepare(given);
  const metadataUrl = `http://127.0.0.1:${port}/metadata`;
  const script = join(import.meta.dirname, 'pysaml2.py');
  const stop = await running(['/usr/bin/python3', script, folder, String(port)], {
    folder,
    at: metadataUrl,
  });
  return {
    metadataUrl,
    visit: async (url, person) => {
      const page = await fetch(`${url}&person=${person}`);
      return fieldsIn(await page.text());
    },
    stop,
  };
}

const php = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(php).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `[${Object.entries(value)
      .map(([name, one]) => `${php(name)} => ${php(one)}`)
      .join(', ')}]`;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return `'${String(value).replace(/['\\]/g, '\\$&')}'`;
};

/** Starts SimpleSAMLphp with PHP's own server. It signs in the only person, without a form. */
export async function startSimpleSamlPhp(given: Given): Promise<SamlProgram> {
  const { folder, port } = await prepare(given);
  const base = `http://127.0.0.1:${port}/`;
  await mkdir(join(folder, 'metadata'));
  await mkdir(join(folder, 'sessions'));
  const [person] = Object.values(given.people);
  const write = (file: string, text: string) => writeFile(join(folder, file), `<?php\n${text}\n`);
  const settings = {
    baseurlpath: base,
    certdir: `${folder}/`,
    metadatadir: `${folder}/metadata`,
    loggingdir: `${folder}/`,
    datadir: `${folder}/`,
    tempdir: `${folder}/tmp`,
    secretsalt: 'a salt of the tests',
    'auth.adminpassword': 'a password of the tests',
    timezone: 'UTC',
    'logging.handler': 'file',
    'enable.saml20-idp': true,
    'module.enable': { exampleauth: true, core: true, saml: true },
    'store.type': 'phpsession',
    'session.phpsession.savepath': `${folder}/sessions`,
    'metadata.sources': [{ type: 'flatfile' }],
    'language.default': 'en',
    'theme.use': 'default',
  };
  await write('config.php', `$config = ${php(settings)};`);
  await write(
    'authsources.php',
    `$config = ['example' => array_merge(['exampleauth:StaticSource'], ${php({ uid: [person?.id], ...person?.attributes })})];`,
  );
  const hosted = {
    host: '__DEFAULT__',
    privatekey: 'key.pem',
    certificate: 'cert.pem',
    auth: 'example',
    'saml20.sign.response': person?.signs !== 'assertion',
    'saml20.sign.assertion': person?.signs !== 'response',
    authproc: {},
  };
  const entity = `${base}saml2/idp/metadata.php`;
  const rules = `[1 => ['class' => 'saml:AttributeNameID', 'attribute' => 'uid', 'Format' => 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent', 'identifyingAttribute' => 'uid']]`;
  await write(
    'metadata/saml20-idp-hosted.php',
    `$metadata[${php(entity)}] = array_merge(${php(hosted)}, ['authproc' => ${rules}]);`,
  );
  const remote = {
    AssertionConsumerService: given.acsUrl,
    NameIDFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    'simplesaml.nameidattribute': 'uid',
  };
  await write(
    'metadata/saml20-sp-remote.php',
    `$metadata[${php(given.entityId)}] = ${php(remote)};`,
  );
  const stop = await running(
    ['php', '-S', `127.0.0.1:${port}`, '-t', '/usr/share/simplesamlphp/www'],
    { folder, at: entity, env: { SIMPLESAMLPHP_CONFIG_DIR: folder } },
  );
  return {
    metadataUrl: entity,
    visit: async (url) => {
      const browser = createClient(base.slice(0, -1), { keepCookies: true });
      let at = url;
      for (let steps = 0; steps < 10; steps += 1) {
        const { pathname, search } = new URL(at, base);
        const answer = await browser.get(pathname + search);
        const location = answer.headers['location'];
        if (typeof location !== 'string') return fieldsIn(String(answer.body));
        at = location;
      }
      throw new Error('SimpleSAMLphp redirects forever');
    },
    stop,
  };
}
