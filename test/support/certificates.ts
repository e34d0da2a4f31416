import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate authority of one test run, in a folder that the caller removes. */
export interface Authority {
  /** The path of its certificate, in PEM. */
  caFile: string;
  /** Issues a certificate for these names, such as `DNS:localhost` or `IP:127.0.0.1`. */
  issue(...names: string[]): Promise<{ certFile: string; keyFile: string }>;
  /** Issues a certificate that expired yesterday. */
  issueExpired(...names: string[]): Promise<{ certFile: string; keyFile: string }>;
}

/**
 * Creates a self-signed certificate for `localhost`, with this name as its subject. The caller
 * removes the folder.
 */
export async function selfSigned(folder: string, name: string) {
  const [certFile, keyFile] = [join(folder, 'self.pem'), join(folder, 'self.key')];
  await request(keyFile, certFile, name, ['subjectAltName=DNS:localhost,IP:127.0.0.1']);
  return { certFile, keyFile };
}

/** Makes an authority with the openssl program. */
export async function createAuthority(folder: string): Promise<Authority> {
  const caFile = join(folder, 'ca.pem');
  const caKey = join(folder, 'ca.key');
  await request(caKey, caFile, 'idctl test authority', ['basicConstraints=critical,CA:TRUE']);
  const signer = ['-CA', caFile, '-CAkey', caKey];
  let issued = 0;
  const issue = async (...names: string[]) => {
    issued += 1;
    const certFile = join(folder, `leaf-${issued}.pem`);
    const keyFile = join(folder, `leaf-${issued}.key`);
    const extensions = [`subjectAltName=${names.join(',')}`, 'basicConstraints=critical,CA:FALSE'];
    await request(keyFile, certFile, `leaf ${issued}`, extensions, signer);
    return { certFile, keyFile };
  };
  return {
    caFile,
    issue,
    async issueExpired(...names) {
      const leaf = await issue(...names);
      // Only `openssl x509 -req` takes a negative number of days, so the certificate is turned into
      // a request and signed again.
      const { certFile, keyFile } = leaf;
      const csr = ['x509', '-x509toreq', '-copy_extensions', 'copyall'];
      await run('openssl', [
        ...csr,
        '-in',
        certFile,
        '-signkey',
        keyFile,
        '-out',
        `${certFile}.csr`,
      ]);
      const again = ['x509', '-req', '-days', '-1', '-copy_extensions', 'copy', ...signer];
      await run('openssl', [...again, '-in', `${certFile}.csr`, '-out', certFile]);
      return leaf;
    },
  };
}

async function request(
  key: string,
  cert: string,
  name: string,
  extensions: string[],
  signer: string[] = [],
) {
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const files = ['-keyout', key, '-out', cert, '-subj', `/CN=${name}`];
  await run('openssl', ['req', '-x509', '-utf8', ...kind, ...files, ...added, ...signer]);
}
