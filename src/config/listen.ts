/** Whether this host is the machine itself, by whatever name or address. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(host);
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
