/** Writes a document as YAML, with a first line that tells editors its schema. */
export async function writeDocument({
  $schema,
  ...document
}: { $schema: string } & Record<string, unknown>): Promise<string> {
  const { Document, isScalar, visit } = await import('yaml');
  const written = new Document(document, { aliasDuplicateObjects: false });
  visit(written, {
    Seq(_key, node) {
      if (node.items.every(isScalar)) node.flow = true;
    },
    Map(_key, node, path) {
      const flat = node.items.every(({ value }) => isScalar(value));
      // Entries of lists take one line each, as do references to a secret.
      if (path.length > 3 && node.items.length < 4 && flat) node.flow = true;
    },
  });
  const text = written.toString({ lineWidth: 0, flowCollectionPadding: false });
  return `# yaml-language-server: $schema=${$schema}\n${text}`;
}
