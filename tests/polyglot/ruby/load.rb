# Loads the generated code of the folder, and reads every field of every message as a method.
require "google/protobuf"

folder = ARGV[0]
files = Dir.chdir(folder) { Dir["sodafountain/**/*_pb.rb"].sort }
files.each { |file| require File.expand_path(file, folder) }

def messages(mod)
  found = mod.constants.map { |name| mod.const_get(name) }.select { |value| value.is_a?(Module) }
  found.select { |value| value.respond_to?(:descriptor) && value.method_defined?(:to_h) } +
    found.flat_map { |value| messages(value) }
end

all = messages(SodaFountain)
abort "no messages" if all.empty?
hidden = all.flat_map do |type|
  message = type.new
  type.descriptor.map(&:name).reject do |name|
    message.public_send(name) == message[name]
  rescue StandardError
    false
  end.map { |name| "#{type.descriptor.name}.#{name}" }
end
abort "not readable as methods: #{hidden.join(', ')}" unless hidden.empty?
