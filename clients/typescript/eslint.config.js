import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "build", "**/build", "**/node_modules", "src/gen", "test/readme"] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers in messages and keys need no conversion.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `||` is allowed for strings, where an empty string counts as missing.
      "@typescript-eslint/prefer-nullish-coalescing": ["error", { ignorePrimitives: { string: true } }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "max-lines": ["error", 400],
      eqeqeq: "error",
      "no-console": "error",
    },
  },
  {
    // Code that browsers load.
    files: ["src/**"],
    ignores: ["src/node/**", "src/node.ts"],
    rules: {
      "no-restricted-imports": ["error", { patterns: ["node:*", "./node/*", "@connectrpc/connect-node"] }],
      "no-restricted-globals": ["error", "Buffer", "process", "global", "setImmediate"],
    },
  },
  { files: ["examples/**", "conformance/**"], rules: { "no-console": "off" } },
  {
    files: ["test/**"],
    rules: {
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", name: ["test", "describe", "it"], package: "node:test" }] },
      ],
    },
  },
  { files: ["**/*.js", "**/*.mjs"], extends: [tseslint.configs.disableTypeChecked] },
);
