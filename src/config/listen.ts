import { isIP } from 'node:net';

/** Whether this host, as it stands in a URL or without the brackets, is the machine itself. */
export function isLoopback(host: string): boolean {
  return (
    ['localhost', '::1', '[::1]'].includes(host) || (isIP(host) === 4 && host.startsWith('127.'))
  );
}

/**
 * Where the daemon must listen to be reached at a base URL that is this machine's own and plain http; null for others, and
 * for ports that only root may open, where a proxy answers.
 */
export function listenFor(baseUrl: string): string | null {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (protocol !== 'http:' || !isLoopback(hostname) || Number(port) < 1024) return null;
  return `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port}`;
}
