import { execFileSync } from 'node:child_process'

/** Writes a new key and its self-signed certificate as PEM files. */
export const writeCertificate = (
  certFile: string,
  keyFile: string,
  host = 'node',
  more: readonly string[] = [],
): void => {
  const args = ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '2']
  execFileSync('openssl', [...args, '-subj', `/CN=${host}`, ...more], { stdio: 'ignore' })
}
