import { isIP } from 'node:net';

/** Whether this host is the machine itself. Accepts a host as in a URL, or without the brackets. */
export function isLoopback(host: string): boolean {
  return (
    ['localhost', '::1', '[::1]'].includes(host) || (isIP(host) === 4 && host.startsWith('127.'))
  );
}

/**
 * The listen address for a plain-http base URL on this machine. Null for other URLs, and for ports
 * that only root may open, because a proxy answers there.
 */
export function listenFor(baseUrl: string): string | null {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (protocol !== 'http:' || !isLoopback(hostname) || Number(port) < 1024) return null;
  return `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port}`;
}
