import { X509Certificate } from 'node:crypto';

const block = /-----BEGIN [^-]+-----[\s\S]*?-----END [^-]+-----/g;

/** The certificates of a PEM text, or null when there are none, or something else is among them. */
export function certificatesIn(pem: string): X509Certificate[] | null {
  const blocks = pem.match(block) ?? [];
  try {
    return blocks.length === 0 ? null : blocks.map((one) => new X509Certificate(one));
  } catch {
    return null;
  }
}
