import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate authority of one test run, in a folder that the caller removes. */
export interface Authority {
  /** Its certificate, PEM. */
  caFile: string;
  /** A certificate for these names, `DNS:localhost` or `IP:127.0.0.1`. */
  issue(...names: string[]): Promise<{ certFile: string; keyFile: string }>;
}

/** Makes an authority with the openssl program. */
export async function createAuthority(folder: string): Promise<Authority> {
  const caFile = join(folder, 'ca.pem');
  const caKey = join(folder, 'ca.key');
  await request(caKey, caFile, 'idctl test authority', ['basicConstraints=critical,CA:TRUE']);
  let issued = 0;
  return {
    caFile,
    async issue(...names) {
      issued += 1;
      const certFile = join(folder, `leaf-${issued}.pem`);
      const keyFile = join(folder, `leaf-${issued}.key`);
      const extensions = [`subjectAltName=${names.join(',')}`, 'basicConstraints=critical,CA:FALSE'];
      await request(keyFile, certFile, `leaf ${issued}`, extensions, ['-CA', caFile, '-CAkey', caKey]);
      return { certFile, keyFile };
    },
  };
}

async function request(key: string, cert: string, name: string, extensions: string[], signer: string[] = []) {
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const files = ['-keyout', key, '-out', cert, '-subj', `/CN=${name}`];
  await run('openssl', ['req', '-x509', ...kind, ...files, ...added, ...signer]);
}
