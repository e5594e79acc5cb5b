import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/pocketgpu/view/page",
    emptyOutDir: true,
    target: "es2022",
    // The page's security policy allows files of the server only: nothing may become part of the HTML.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    // three.js, which is fetched when a mesh is first shown.
    chunkSizeWarningLimit: 600,
  },
  // `npm run dev` beside `pocketgpu view`: requests go on to it.
  server: { proxy: { "/api": process.env["POCKETGPU_VIEW"] ?? "http://127.0.0.1:8017" } },
});
